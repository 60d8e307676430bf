// The console in a real browser: a year of a series from the drop to the report, an audit by drop, every rule of the door as an
// attack, and screenshots of every page in light, dark and on a phone.
//
// Usage: node browser.mjs TACENDA MODULES FOLDER. MODULES has playwright-core and axe-core; FOLDER gets the screenshots.
import { spawn, spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";

const [binary, modules, shots] = process.argv.slice(2).map((word) => path.resolve(word));
const require = createRequire(path.join(modules, "x.js"));
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const work = fs.mkdtempSync(path.join(os.tmpdir(), "tacenda-browser-"));
fs.mkdirSync(shots, { recursive: true });
const temporary = path.join(work, "tmp");
fs.mkdirSync(temporary);
const environment = { ...process.env, TMPDIR: temporary, XDG_STATE_HOME: path.join(work, "state"), XDG_CONFIG_HOME: path.join(work, "config") };
const isRoot = process.getuid && process.getuid() === 0;
const run = (...words) => spawnSync(binary, words, { env: environment, encoding: "utf8" });

/** Starts the console and answers with its process and its link. */
const serve = (project, ...words) =>
  new Promise((done, failed) => {
    const all = ["serve", "-C", project, ...words, ...(isRoot ? ["--i-know"] : [])];
    const child = spawn(binary, all, { env: environment });
    process.once("exit", () => child.kill("SIGKILL"));
    let said = "";
    child.stderr.on("data", (text) => (said += text));
    child.stdout.once("data", (text) => done({ child, link: String(text).trim() }));
    child.once("exit", (code) => failed(new Error(`serve ended with ${code}: ${said}`)));
  });
const ended = (child) => new Promise((done) => (child.exitCode !== null || child.signalCode ? done() : child.once("exit", done)));
/** A request that no browser would send. */
const raw = (port, address, headers = {}, method = "GET", body = undefined) =>
  new Promise((done) => {
    const request = http.request({ host: "127.0.0.1", port, path: address, method, headers }, (answer) => {
      answer.resume();
      done(answer.statusCode);
    });
    request.end(body);
  });

const began = Date.now();
const told = (what) => console.log(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${what}`);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const complaints = [];
async function tab(context) {
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => complaints.push(`a script ran: ${dialog.message()}`) && dialog.dismiss());
  return page;
}
/** No serious finding of axe, in light and in dark. */
async function accessible(page, name) {
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    const found = await page.evaluate(`${axe}; axe.run(document, { iframes: false })`);
    const serious = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
    const words = serious.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html).join(" ")}`);
    assert.deepEqual(words, [], `${name} (${scheme})`);
  }
}
async function pictured(page, name) {
  await accessible(page, name);
  for (const [word, scheme, width] of [["light", "light", 1200], ["dark", "dark", 1200], ["phone", "light", 390]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await page.screenshot({ path: path.join(shots, `${name}-${word}.png`), fullPage: true });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${name} is ${wide} pixels wider than a ${word} screen`);
  }
  await page.setViewportSize({ width: 1200, height: 900 });
  await page.emulateMedia({ colorScheme: "light" });
}
const go = (page, address) => page.goto(new URL(address, page.url()).href);
/** Waits until no job of the page runs. */
const idle = (page) => page.waitForFunction(() => !document.querySelector("[data-job]") && document.readyState === "complete");

// Data: a made-up ward's four quarters. A fifth of its people leaves and arrives each time.
const diagnoses = ["flu", "asthma", "gout", "angina", "eczema", "migraine", "fracture", "gastritis"];
const person = (at) =>
  [`p${at}`, `Name ${at}`, 18 + ((at * 37) % 72), 12000 + ((at * 13) % 30) * 7, "FM"[at % 2], `2025-${String(1 + (at % 12)).padStart(2, "0")}-${String(1 + ((at * 11) % 28)).padStart(2, "0")}`, diagnoses[(at * 5) % 8]].join(",");
const quarters = ["2026-Q1.csv", "2026-Q2.csv", "2026-Q3.csv", "2026-Q4.csv"];
for (const [at, name] of quarters.entries()) {
  const people = Array.from({ length: 600 }, (_, number) => person(number + at * 120));
  fs.writeFileSync(path.join(work, name), `patient_id,full_name,age,postcode,sex,admitted_on,diagnosis\n${people.join("\n")}\n`);
}

// Refusals before anything is opened.
if (isRoot) assert.equal(run("serve", "-C", work).status, 2, "root without a word");
const elsewhere = spawnSync(binary, ["serve", "-C", work, "--bind", "0.0.0.0"], { env: environment, encoding: "utf8" });
assert.equal(elsewhere.status, 2, "another address without a word");
assert.match(elsewhere.stderr, /U201.*--i-know/s);

const project = path.join(work, "ward");
let { child, link } = await serve(project, "--allow-publish");
const { host, port } = new URL(link);
assert.match(link, /^http:\/\/t[0-9a-f]{12}\.localhost:\d+\/#t=[0-9a-f]{32}$/);
const context = await browser.newContext();
const page = await tab(context);
await page.goto(link);
await page.waitForURL("**/series");
assert.equal(await page.evaluate(() => location.href.includes("t=") || localStorage.length + sessionStorage.length > 0), false);
await pictured(page, "series-empty");

// The door, attacked.
const stranger = await tab(await browser.newContext());
await stranger.goto(link);
await stranger.waitForFunction(() => document.getElementById("opening").textContent.includes("closed here"));
complaints.length = 0; // The browser reports the refusal itself.
assert.equal(await raw(port, "/series", { host }), 401);
assert.equal(await raw(port, "/series", { host: "evil.example" }), 421);
assert.equal(await raw(port, "/app.js", { host: `127.0.0.1:${port}` }), 421);
const [{ name, value }] = await context.cookies(`http://${host}/`);
const cookie = `${name}=${value}`;
assert.equal(name, `tacenda-${port}`);
assert.equal(await raw(port, "/leave", { host, cookie }, "POST"), 403, "no origin");
assert.equal(await raw(port, "/leave", { host, cookie, origin: "http://evil.example" }, "POST"), 403);
assert.equal(await raw(port, "/session", { host, origin: `http://${host}` }, "POST", link.split("#t=")[1]), 403, "the token again");
let seen = "";
const other = http.createServer((request, answer) => {
  seen = request.headers.cookie ?? "none";
  answer.setHeader("content-type", "text/html");
  answer.end(`<script>fetch("http://${host}/series",{credentials:"include"}).then(a=>a.text()).then(t=>document.title="READ "+t.length).catch(()=>document.title="blocked")</script>
    <iframe src="http://${host}/series"></iframe><form method="post" action="http://${host}/next/publish"><input name="typed" value="1"></form>`);
});
await new Promise((done) => other.listen(0, "127.0.0.1", done));
const attacker = await context.newPage();
await attacker.goto(`http://127.0.0.1:${other.address().port}/`);
await attacker.waitForFunction(() => document.title);
assert.equal(await attacker.title(), "blocked", "a read from another origin");
assert.equal(seen, "none", "the cookie went to another port");
const framed = attacker.frames().find((frame) => frame !== attacker.mainFrame());
assert.ok(!(await framed.content()).includes("tacenda"), "the console stands in a foreign frame");
const posted = attacker.waitForResponse((answer) => answer.url().endsWith("/next/publish"));
await attacker.evaluate(() => document.forms[0].submit());
assert.equal((await posted).status(), 403, "a form from another origin");
await attacker.close();
other.close();
told("every attack on the door failed");

// A year of a series, from the drop to the report.
const drop = async (list, ...files) => {
  const loaded = page.waitForEvent("load");
  await page.setInputFiles(`#drop-${list}`, files);
  await loaded;
};
const quarter = (at) => path.join(work, quarters[at]);
await go(page, "/start");
const named = await page.evaluateHandle((text) => {
  const data = new DataTransfer();
  data.items.add(new File([text], "stays-2026-Q1.csv"));
  return data;
}, fs.readFileSync(quarter(0), "utf8"));
const landed = page.waitForEvent("load");
await page.dispatchEvent("[data-drop=tables]", "drop", { dataTransfer: named });
await landed;
await page.click("text=Look at the columns");
await page.waitForSelector("#tried .figures");
await page.fill("#m", "5");
await page.waitForFunction(() => document.querySelector("#tried pre").textContent.includes("m     = 5"));
const moved = Date.now();
await page.fill("#m", "4");
await page.waitForFunction(() => document.querySelector("#tried pre").textContent.includes("m     = 4"));
told(`a slider was answered in ${Date.now() - moved} ms`);
await page.reload();
assert.equal(await page.inputValue("#m"), "4", "the answers survive a reload");
await pictured(page, "start");
await page.fill("#name", "ward-stays");
await Promise.all([page.waitForEvent("load"), page.click("text=Save this policy")]);
await idle(page);
await page.waitForSelector("#done-draft");
assert.match(fs.readFileSync(path.join(project, "tacenda.toml"), "utf8"), /m +=.*4/);
await pictured(page, "start-saved");
for (let at = 0; at < 4; at++) {
  const label = quarters[at].replace(".csv", "");
  await go(page, "/next");
  if (at > 0) await drop("tables", quarter(at));
  await page.fill("#label", label);
  await Promise.all([page.waitForEvent("load"), page.click("button:text-is('Rehearse')")]);
  await page.reload(); // In the middle of the job, or right after it.
  await idle(page);
  await page.waitForSelector("#done-plan");
  if (at === 1) {
    for (const button of ["Check the table", "Compare"]) {
      await Promise.all([page.waitForEvent("load"), page.click(`button:text-is('${button}')`)]);
      await idle(page);
    }
    const tab2 = await tab(context);
    await tab2.goto(`http://${host}/next`);
    assert.equal(await tab2.textContent("#done-plan"), await page.textContent("#done-plan"), "two tabs agree");
    await tab2.close();
    await pictured(page, "next");
    await page.fill("#typed", "wrong");
    await page.click("button:text-is('Publish')");
    await page.waitForSelector("text=error[U201]");
    await pictured(page, "error");
    complaints.length = 0; // The browser reports the status 422 itself.
    await go(page, "/next");
  }
  await page.fill("#typed", label);
  await page.click("button:text-is('Publish')");
  await page.waitForSelector("#done-publish");
  told(`published ${label}`);
  if (at === 0) {
    // Without a terminal: a key is made on the page, and the next release is signed with it.
    assert.match(await page.textContent("#done-publish"), /there is no signing key/);
    await go(page, "/ledger");
    await page.click("summary:text-is('Make a signing key')");
    for (const field of ["passphrase", "again"]) await page.fill(`input[name=${field}]`, "four words and more");
    await pictured(page, "ledger-key");
    await Promise.all([page.waitForEvent("load"), page.click("text=Make the key")]);
    assert.match(await page.textContent("main"), /Releases are signed with this key/);
  } else {
    assert.match(await page.textContent("#done-publish"), /Signed by the key/);
  }
}
assert.equal(run("verify", "-C", project).status, 0, "the command line agrees");
await go(page, "/series");
await page.waitForSelector(".figures");
await idle(page);
assert.match(await page.textContent(".verdict strong"), /^PASS/);
await pictured(page, "series");
await page.emulateMedia({ media: "print" });
await page.screenshot({ path: path.join(shots, "series-print.png"), fullPage: true });
await page.emulateMedia({ media: "screen" });
await page.keyboard.press("Tab");
assert.equal(await page.evaluate(() => document.activeElement.className), "skip", "the first stop of the keyboard");
await page.keyboard.press("Enter");
assert.equal(await page.evaluate(() => document.activeElement.id), "content");
// Before she signs, the steward asks the questions about people, too.
assert.match(await page.textContent(".verdict"), /private tables were not given/);
await page.click("summary:text-is('Ask the questions about people, too')");
await Promise.all([page.waitForEvent("load"), page.click("button:text-is('Attack them again')")]);
await page.waitForFunction(() => document.querySelector(".verdict") && !document.querySelector("[data-job]") && !document.querySelector(".verdict").textContent.includes("private tables were not given"));
await pictured(page, "series-with-tables");
const report = await tab(context);
await report.goto(`http://${host}/report`);
assert.ok((await report.locator(".sign").count()) > 0, "a place to sign");
await report.screenshot({ path: path.join(shots, "report.png") });
await report.close();
await go(page, "/release/4");
await page.frameLocator("iframe.report").locator("h1").waitFor();
await page.locator("iframe.report").screenshot({ path: path.join(shots, "release-frame.png") });
for (const [word, address] of [["release", "/release/4"], ["policy", "/policy"], ["hierarchy", "/hierarchy"]]) {
  await go(page, address);
  await idle(page);
  await pictured(page, word);
}
await go(page, "/ledger");
await page.click("button:text-is('Verify')");
await page.waitForSelector("text=INTACT");
await pictured(page, "ledger");
await go(page, "/person");
await page.fill("#key", fs.readFileSync(quarter(3), "utf8").split("\n")[1].split(",")[0]);
const options = await page.$$eval("select[name=truth] >> nth=0 >> option", (all) => all.map((one) => one.value).filter(Boolean));
// The tables whose names have the labels are chosen already, but for the first, which was dropped by another name.
const proposed = await page.$$eval("select[name=truth]", (all) => all.map((one) => one.value));
assert.deepEqual(proposed, [0, 1, 2, 3].map((at) => options[3 - at]));
await page.click("text=Look up");
await page.waitForSelector(".told .steps");
assert.ok(!page.url().includes("key"), page.url());
await pictured(page, "person");

// A tree by hand: the values of a column that the policy lists are dragged onto a group, and saved. A release fixed the tree of this
// series, so another series is started.
const orchard = path.join(work, "orchard");
fs.mkdirSync(orchard);
fs.copyFileSync(quarter(0), path.join(orchard, "q1.csv"));
assert.equal(run("init", "-C", orchard, path.join(orchard, "q1.csv"), "--name", "orchard", "--yes").status, 0);
{
  const { child: gardener, link: gate } = await serve(orchard);
  const hands = await tab(await browser.newContext());
  await hands.goto(gate);
  await hands.waitForURL("**/series");
  await go(hands, "/hierarchy?column=sex");
  await hands.click("text=Groups by hand");
  await hands.fill("[data-new-group]", "known");
  await hands.press("[data-new-group]", "Enter");
  for (const value of ["F", "M"]) await hands.dragAndDrop(`[data-value="${value}"]`, ".targets li");
  assert.deepEqual(await hands.$$eval("input[name^='group:']", (all) => all.map((one) => [one.name, one.value])), [["group:F", "known"], ["group:M", "known"], ["group:other", ""]]);
  assert.ok(await hands.isChecked("input[name=rule][value=groups]"), "dragging chooses the rule");
  await pictured(hands, "hierarchy-by-hand");
  await Promise.all([hands.waitForEvent("load"), hands.click("text=Show the new tree")]);
  assert.match(await hands.inputValue("#text"), /F;known;\*\nM;known;\*/);
  await Promise.all([hands.waitForEvent("load"), hands.click("button:text-is('Save')")]);
  assert.match(await hands.textContent(".verdict"), /SAVED/);
  assert.match(fs.readFileSync(path.join(orchard, "tacenda.toml"), "utf8"), /sex .*hierarchy = "hierarchies\/sex.csv"/);
  assert.equal(run("check", "-C", orchard, path.join(orchard, "q1.csv")).status, 0, "the command line takes the tree");
  await hands.close();
  gardener.removeAllListeners("exit");
  gardener.kill("SIGTERM");
  await ended(gardener);
}
told("values were dragged into a tree");

// The other languages, on the pages with the most words.
for (const word of ["de", "fr"]) {
  await page.click(`button[name=language][value=${word}]`);
  await page.waitForFunction((lang) => document.documentElement.lang === lang, word);
  await page.screenshot({ path: path.join(shots, `series-${word}.png`), fullPage: true });
  await go(page, "/next");
  await page.screenshot({ path: path.join(shots, `next-${word}.png`), fullPage: true });
}
await page.click("button[name=language][value=en]");

// An audit by drop, with names that would be markup, and cells that would be.
const evil = '<img src=x onerror=alert(1)>';
const rows = (ages, diseases) => ages.flatMap((age, at) => diseases[at].map((disease) => `"${age}",47***,${disease}`)).join("\n");
const first = `age,zip,"${evil}"\n${rows(["[20,30)", "[30,40)"], [["flu", evil], ["gout", "flu"]])}\n`;
const second = `age,zip,"${evil}"\n${rows(["[20,25)", "[25,40)"], [["flu", "gout"], ["flu", "gout"]])}\n`;
await go(page, "/audit");
fs.writeFileSync(path.join(work, "b.csv"), second);
fs.writeFileSync(path.join(work, "a<img src=x onerror=alert(3)>.csv".replace("/", "")), first);
await drop("audit", path.join(work, "b.csv"));
await drop("audit", path.join(work, "a<img src=x onerror=alert(3)>.csv"));
await page.click("text=Move up");
assert.match(await page.textContent(".files li >> nth=0"), /^a_img/);
await page.selectOption(`select >> nth=2`, "sensitive");
for (const at of [0, 1]) await page.selectOption(`select >> nth=${at}`, "quasi");
await page.check("input[name=show]");
await page.click("button:text-is('Audit')");
await page.waitForSelector("#done-audit .verdict.fail");
await pictured(page, "audit");
const whole = await tab(context);
await whole.goto(`http://${host}/audit/report`);
assert.match(await whole.textContent("body"), /FAIL/);
await whole.close();
told("an audit by drop found what is to be found");

// A killed server: the page says so, nothing is lost, and what was dropped is removed by the next one.
await go(page, "/start");
await go(page, "/audit");
child.kill("SIGKILL");
await ended(child);
await page.setInputFiles("#drop-audit", path.join(work, "b.csv"));
await page.waitForSelector("#gone:not([hidden])");
await page.close();
complaints.length = 0; // The browser reports the lost connection itself.
assert.equal(fs.readdirSync(temporary).filter((name) => name.startsWith("tacenda-console-")).length, 1);
({ child, link } = await serve(project));
assert.equal(fs.readdirSync(temporary).filter((name) => name.startsWith("tacenda-console-")).length, 1, "the old folder is gone");
const again = await tab(context);
await again.goto(link);
await again.waitForURL("**/series");
// The list of private tables names releases, too, and is folded.
await again.waitForSelector("text=2026-Q4 >> visible=true");
await again.goto(new URL("/next", again.url()).href);
await again.close();
child.kill("SIGTERM");
await ended(child);
assert.equal(fs.readdirSync(temporary).filter((name) => name.startsWith("tacenda-console-")).length, 0, "nothing dropped is left");
assert.deepEqual(complaints, []);
await browser.close();
fs.rmSync(work, { recursive: true });
told("all passed");
