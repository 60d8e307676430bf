//! Object storage that Python reaches: `tacenda.objects.Bucket`, over the package `obstore`. Nothing is decided here.

use crate::work::{Errand, unless_it_ends};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tacenda::folder::SUMS;
use tacenda::ledger::{Disk, ObjectBody, Objects, ObjectsDisk, fetch};
use tacenda::publish::ProjectError;

/// The disk of a project in a bucket.
pub fn disk(bucket: Py<PyAny>, root: &Path) -> Arc<dyn Disk> {
    Arc::new(ObjectsDisk::new(Arc::new(PyBucket(bucket)), root, SUMS))
}

/// A bucket: an object with the methods of `tacenda.objects.Bucket`, which raise the errors of files.
struct PyBucket(Py<PyAny>);

impl PyBucket {
    fn ask<T>(&self, read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> io::Result<T> {
        told(Python::attach(|py| read(self.0.bind(py))))
    }
}

/// What Python answers. Ctrl-C is no error of the storage.
fn told<T>(answer: PyResult<T>) -> io::Result<T> {
    answer.map_err(|error| unless_it_ends(error).into())
}

impl Objects for PyBucket {
    fn get(&self, key: &str) -> io::Result<Vec<u8>> {
        self.ask(|bucket| Ok(bucket.call_method1("get", (key,))?.cast::<PyBytes>()?.as_bytes().to_vec()))
    }

    fn open(&self, key: &str) -> io::Result<Box<dyn Read + Send>> {
        let chunks = self.ask(|bucket| Ok(bucket.call_method1("chunks", (key,))?.try_iter()?.unbind()))?;
        Ok(Box::new(Chunks { chunks, chunk: Vec::new(), at: 0 }))
    }

    fn has(&self, key: &str) -> io::Result<bool> {
        self.ask(|bucket| bucket.call_method1("has", (key,))?.extract())
    }

    fn put(&self, key: &str, body: ObjectBody<'_>) -> io::Result<()> {
        self.ask(|bucket| match body {
            ObjectBody::Bytes(bytes) => bucket.call_method1("put", (key, PyBytes::new(bucket.py(), bytes))).map(drop),
            ObjectBody::File(path) => bucket.call_method1("put_file", (key, path)).map(drop),
        })
    }

    fn put_if_absent(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        self.ask(|bucket| bucket.call_method1("put_if_absent", (key, PyBytes::new(bucket.py(), bytes))).map(drop))
    }

    fn copy(&self, from: &str, to: &str) -> io::Result<()> {
        self.ask(|bucket| bucket.call_method1("copy", (from, to)).map(drop))
    }

    fn delete(&self, key: &str) -> io::Result<()> {
        self.ask(|bucket| bucket.call_method1("delete", (key,)).map(drop))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.ask(|bucket| bucket.call_method1("list", (folder,))?.extract())
    }
}

/// An object that comes in chunks.
struct Chunks {
    chunks: Py<PyIterator>,
    chunk: Vec<u8>,
    at: usize,
}

impl Read for Chunks {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.chunk.len() {
            let next = told(Python::attach(|py| -> PyResult<Option<Vec<u8>>> {
                let next = self.chunks.bind(py).clone().next().transpose()?;
                next.map(|chunk| Ok(chunk.cast::<PyBytes>()?.as_bytes().to_vec())).transpose()
            }))?;
            let Some(chunk) = next else { return Ok(0) };
            (self.chunk, self.at) = (chunk, 0);
        }
        let read = (&self.chunk[self.at..]).read(into)?;
        self.at += read;
        Ok(read)
    }
}

/// Copies a project from a bucket into a folder, and returns the names of its files.
#[pyfunction]
pub fn fetch_project(
    py: Python<'_>,
    bucket: Py<PyAny>,
    url: PathBuf,
    folder: PathBuf,
    vault: bool,
) -> PyResult<Vec<String>> {
    let disk = disk(bucket, &url);
    Errand::new(None).look(py, |_| Ok(fetch(&*disk, &url, &folder, vault).map_err(ProjectError::from)?))
}
