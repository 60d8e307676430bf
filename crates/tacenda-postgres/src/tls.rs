//! Encrypted connections whose server proves who it is: rustls, as the database client wants it.

use crate::settings::{TlsFiles, unreadable};
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tacenda::use_cases::DatabaseError;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Makes encrypted connections.
#[derive(Clone)]
pub struct Tls(Arc<ClientConfig>);

impl Tls {
    /// Trusts the named authorities, or else those of the system. The server's name is always checked.
    pub fn new(files: &TlsFiles) -> Result<Tls, DatabaseError> {
        let mut authorities = RootCertStore::empty();
        match &files.authorities {
            Some(file) => certificates(file)?.into_iter().for_each(|one| drop(authorities.add(one))),
            None => {
                let found = rustls_native_certs::load_native_certs().certs;
                authorities.add_parsable_certificates(found);
            }
        }
        if authorities.is_empty() {
            let what = "no certificate of an authority is known here".into();
            return Err(DatabaseError::Certificate { what });
        }
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let refused = |error: tokio_rustls::rustls::Error| DatabaseError::Certificate { what: error.to_string() };
        let config = config.map_err(refused)?.with_root_certificates(authorities);
        let config = match &files.own {
            None => config.with_no_client_auth(),
            Some((certificate, key)) => {
                let own = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, &error))?;
                let unusable = |error: tokio_rustls::rustls::Error| DatabaseError::Setting {
                    what: format!("the certificate of sslcert with the key of sslkey cannot be used: {error}"),
                    way_out: "name a certificate of version 3 and the key that belongs to it".into(),
                };
                config.with_client_auth_cert(certificates(certificate)?, own).map_err(unusable)?
            }
        };
        Ok(Tls(Arc::new(config)))
    }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, DatabaseError> {
    let found = CertificateDer::pem_file_iter(file).map_err(|error| unreadable(file, &error))?;
    found.collect::<Result<_, _>>().map_err(|error| unreadable(file, &error))
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Encrypted<S>;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        let server = ServerName::try_from(host.to_string()).map_err(io::Error::other)?;
        Ok(Handshake { connector: TlsConnector::from(Arc::clone(&self.0)), server })
    }
}

/// A handshake with one server.
pub struct Handshake {
    connector: TlsConnector,
    server: ServerName<'static>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Handshake {
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move { Ok(Encrypted(self.connector.connect(self.server, stream).await?)) })
    }
}

/// An encrypted connection.
pub struct Encrypted<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    // The server has proved its name by a certificate; nothing more is bound to the channel.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, out)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
