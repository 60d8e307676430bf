// How long the console takes to answer: the pages of a project, and the sliders of a first table. Use an optimised build.
//
// Usage: node times.mjs TACENDA PROJECT TABLE. PROJECT is one that `tacenda demo` left; TABLE is a first table of 10,000 rows. Both
// wall times and the processor times of the server are told: on a machine with other work only the second are worth something.
import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";

const [binary, project, table] = process.argv.slice(2).map((word) => path.resolve(word));
const work = fs.mkdtempSync(path.join(os.tmpdir(), "tacenda-times-"));
const environment = { ...process.env, XDG_STATE_HOME: path.join(work, "state"), XDG_CONFIG_HOME: path.join(work, "config") };
const isRoot = process.getuid && process.getuid() === 0;

/** A console, and a way to ask it. */
async function open(folder) {
  const child = spawn(binary, ["serve", "-C", folder, ...(isRoot ? ["--i-know"] : [])], { env: environment });
  process.once("exit", () => child.kill("SIGKILL"));
  const link = new URL(await new Promise((done) => child.stdout.once("data", (text) => done(String(text).trim()))));
  // Hundredths of a second of the processor, in and out of the kernel.
  const spent = () => {
    const fields = fs.readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1].split(" ");
    return 10 * (Number(fields[11]) + Number(fields[12]));
  };
  let cookie = "";
  const ask = (method, address, body, more = {}) =>
    new Promise((done, failed) => {
      const headers = { host: link.host, origin: `http://${link.host}`, cookie, ...more };
      const [began, before] = [performance.now(), spent()];
      const request = http.request({ host: "127.0.0.1", port: link.port, path: address, method, headers }, (answer) => {
        let text = "";
        answer.on("data", (piece) => (text += piece));
        answer.on("end", () => done({ status: answer.statusCode, headers: answer.headers, text, wall: performance.now() - began, cpu: spent() - before }));
      });
      request.on("error", failed);
      request.end(body);
    });
  const session = await ask("POST", "/session", link.hash.slice(3));
  cookie = session.headers["set-cookie"][0].split(";")[0];
  return { ask, close: () => child.kill("SIGTERM") };
}
const told = (name, answers) => {
  const middle = (of) => answers.map(of).sort((a, b) => a - b)[answers.length >> 1].toFixed(0).padStart(5);
  const wrong = answers.find((answer) => answer.status !== 200);
  console.log(`${name.padEnd(24)} median ${middle((answer) => answer.wall)} ms, ${middle((answer) => answer.cpu)} CPU ms${wrong ? ` STATUS ${wrong.status}` : ""}`);
};

const shown = await open(project);
for (const page of ["/series", "/next", "/release/4", "/ledger", "/hierarchy", "/policy", "/person"]) {
  told(`${page}, the first time`, [await shown.ask("GET", page)]);
  const answers = [];
  for (let at = 0; at < 9; at++) answers.push(await shown.ask("GET", page));
  told(page, answers);
}
shown.close();
const fresh = await open(path.join(work, "fresh"));
await fresh.ask("POST", "/drop/tables", fs.readFileSync(table), { "x-name": "table.csv" });
const start = await fresh.ask("GET", "/start?table=dropped%3A1");
told("columns of the table", [start]);
const roles = [...start.text.matchAll(/<select name="(role:[^"]+)"[\s\S]*?<\/select>/g)].map(([select, name]) => [name, select.match(/value="([a-z?]+)" selected/)[1]]);
const answers = [];
for (const [m, k] of [[3, 2], [4, 2], [5, 2], [6, 2], [4, 5], [4, 8], [2, 2], [3, 3], [7, 2]]) {
  const fields = { table: "dropped:1", leaving: "yes", name: "x", m, k, ...Object.fromEntries(roles) };
  const answer = await fresh.ask("POST", "/start/live", new URLSearchParams(fields).toString());
  if (!answer.text.includes("figures")) console.log(`m = ${m}, k = ${k} has no figures`);
  answers.push(answer);
}
told("sliders", answers);
fresh.close();
fs.rmSync(work, { recursive: true, force: true });
