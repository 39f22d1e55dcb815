// Made by npm run build:action from src/cli/freezing/gate-action.ts.
import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { join, posix, win32 } from "node:path";
import { homedir } from "node:os";
import { setTimeout as setTimeout$1 } from "node:timers/promises";
const minute = 6e4;
const hour = 60 * minute;
const day = 24 * hour;
// src/time/duration.ts
const units = [
	[/^(?:m|min|mins|minute|minutes)$/, { milliseconds: minute }],
	[/^(?:h|hr|hrs|hour|hours)$/, { milliseconds: hour }],
	[/^(?:d|day|days)$/, { days: 1 }],
	[/^(?:w|week|weeks)$/, { days: 7 }]
];
function parseDuration(text) {
	const lower = text.trim().toLowerCase();
	if (!/^(?:\d{1,5} ?[a-z]+ ?)+$/.test(lower)) return null;
	const sum = {
		days: 0,
		milliseconds: 0
	};
	const seen = new Set();
	for (const [, count, word] of lower.matchAll(/(\d+) ?([a-z]+)/g)) {
		const unit = units.find(([words]) => words.test(word));
		if (!unit || seen.has(unit[0])) return null;
		seen.add(unit[0]);
		sum.days += Number(count) * (unit[1].days ?? 0);
		sum.milliseconds += Number(count) * (unit[1].milliseconds ?? 0);
	}
	return sum.days + sum.milliseconds > 0 ? sum : null;
}
const millisecondsOf = ({ days, milliseconds }) => days * day + milliseconds;
// src/cli/stop.ts
const exitCodes = {
	done: 0,
	refused: 1,
	notKnown: 2,
	frozen: 3
};
var CommandStop = class extends Error {
	exitCode;
	status;
	done = {};
	constructor(exitCode, message, status) {
		super(message);
		this.exitCode = exitCode;
		this.status = status;
	}
};
const misused = (message) => new CommandStop(exitCodes.notKnown, message);
const refusedBy = (message, status) => new CommandStop(exitCodes.refused, message, status);
const unknownThing = (message, status) => new CommandStop(exitCodes.notKnown, message, status);
const isPassing = (error) => error instanceof CommandStop && error.exitCode === exitCodes.notKnown;
// src/cli/memory.ts
const settingsFolder = (machine) => folder(machine, {
	windows: "APPDATA",
	xdg: "XDG_CONFIG_HOME",
	below: ".config"
});
function folder({ env, home, platform }, { windows, xdg, below }) {
	if (platform === "win32") return win32.join(env[windows] ?? win32.join(home, "AppData", "Roaming"), "holdfast");
	const named = env[xdg];
	return posix.join(named && posix.isAbsolute(named) ? named : posix.join(home, below), "holdfast");
}
function textIn(bytes, path) {
	const [first, second] = bytes;
	if (first === 255 && second === 254 || first === 254 && second === 255) throw misused(`${path} is in UTF-16, as PowerShell writes it. Save it in UTF-8.`);
	return bytes.toString("utf8").replace(/^\uFEFF/, "");
}
function readJsonFile(path) {
	let bytes;
	try {
		bytes = readFileSync(path);
	} catch (error) {
		if (error.code === "ENOENT") return null;
		throw misused(`${path} cannot be read: ${error.message}. Give yourself access to it.`);
	}
	const text = textIn(bytes, path);
	try {
		const value = JSON.parse(text);
		if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
	} catch {}
	throw misused(`${path} does not hold a JSON object. Repair it, or delete it.`);
}
// src/cli/target.ts
const targetShape = /^(?<owner>[A-Za-z0-9-]{1,40})(?:\/(?<repository>[\w.-]{1,100})(?:#(?<number>\d{1,15}))?)?$/;
const pullRequestUrl = /^https?:\/\/[^/]+\/(?:repos\/)?(?<path>[^/]+(?:\/[^/]+)?)(?:\/pulls?\/(?<number>\d+))?(?:[/?#].*)?$/;
function readCommandTarget(text) {
	const address = pullRequestUrl.exec(text)?.groups;
	const name = address ? address["path"] + (address["number"] ? `#${address["number"]}` : "") : text;
	const found = targetShape.exec(name)?.groups;
	if (!found) throw misused(`"${text}" is not a repository. Write acme, acme/web or acme/web#5.`);
	const { owner, repository, number } = found;
	return {
		owner,
		repository: repository ?? null,
		number: number ? Number(number) : null
	};
}
function readPlace(text) {
	const { owner, repository, number } = readCommandTarget(text);
	if (number !== null) throw misused(`"${text}" is a pull request. Write ${owner}/${repository}.`);
	return {
		owner,
		repository
	};
}
function readRepository(text) {
	const { owner, repository } = readPlace(text);
	if (repository === null) throw misused(`"${text}" is an owner. Write a repository, such as ${owner}/web.`);
	return {
		owner,
		repository
	};
}
const nameOfTarget = ({ owner, repository }) => repository === null ? owner : `${owner}/${repository}`;
// src/cli/terminal.ts
const printable = (text) => text.replace(/\p{C}/gu, "�");
const printableLines = (text) => text.split("\n").map(printable).join("\n");
const onOneLine = (text) => printable(text.replace(/\s+/gu, " ").trim());
// src/cli/version.ts
const version = () => "1.0.0";
// src/cli/service/service.ts
const forPeople = {
	answered: 5,
	unanswered: 3,
	isPassing: (status) => status >= 502 && status <= 504,
	pause: (tries, isAnswered) => isAnswered ? 1e3 : 250 * 2 ** tries
};
const forJobs = {
	answered: 8,
	unanswered: 8,
	isPassing: (status) => status >= 500,
	pause: (tries) => Math.min(3e4, 500 * 2 ** tries) * (.5 + Math.random() / 2),
	isLong: true
};
const servicePatience = 3e4;
const longestServiceWait = 12e4;
const saysAfter = 5e3;
function serviceAt(world, url, token, retries = forPeople) {
	async function call(request) {
		const send = sender(url, token, request);
		const until = world.now() + longestServiceWait;
		let isTold = !retries.isLong;
		const tell = (what) => {
			if (!isTold) world.err.write(`${printableLines(what)} Trying for up to ${longestServiceWait / 6e4} minutes.\n`);
			isTold = true;
		};
		for (let tries = 1;; tries++) {
			const slow = setTimeout(() => tell(`Waiting for an answer of Holdfast at ${url}.`), saysAfter);
			const response = await send().catch((error) => noAnswer(url, error)).finally(() => clearTimeout(slow));
			const isAnswered = !(response instanceof CommandStop);
			if (isAnswered) {
				const { status, headers } = response;
				if (status < 400) return {
					body: readBody(url, response),
					headers
				};
				if (request.method === "delete" && status === 404 && tries > 1) return {
					body: null,
					headers
				};
			}
			const pause = isAnswered ? pauseAfter$1(response, request.method === "post" && tries > 1, retries, tries) : retries.pause(tries, false);
			const most = isAnswered ? retries.answered : retries.unanswered;
			if (pause === null || tries >= most || world.now() + pause > until) throw isAnswered ? refusalIn(url, response.status, parseJson(response.text)) : response;
			tell(isAnswered ? `Holdfast at ${url} answers ${response.status}.` : response.message);
			await world.delay(pause);
		}
	}
	const send = (method) => async (path, params, body) => (await call({
		method,
		path,
		params,
		body
	})).body;
	return {
		get: async (path, params, query) => (await call({
			method: "get",
			path,
			params,
			query
		})).body,
		async *pages(path, params, query) {
			for (let next = query; next;) {
				const { body, headers } = await call({
					method: "get",
					path,
					params,
					query: next
				});
				yield body;
				next = nextPage(headers);
			}
		},
		post: send("post"),
		put: send("put"),
		patch: send("patch"),
		delete: send("delete")
	};
}
function sender(url, token, { method, path, params, query = {}, body }) {
	const values = params;
	const target = new URL(`${url}/v1${path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name]))}`);
	for (const [name, value] of Object.entries(query)) for (const each of [value ?? []].flat()) target.searchParams.append(name, each);
	const headers = {
		Authorization: `Bearer ${token}`,
		"User-Agent": `holdfast-cli/${version()}`,
		...body && { "Content-Type": "application/json" },
		...method === "post" && { "Idempotency-Key": randomUUID() }
	};
	const init = {
		method: method.toUpperCase(),
		headers,
		body: body && JSON.stringify(body)
	};
	return async () => {
		const signal = AbortSignal.timeout(servicePatience);
		const response = await fetch(target, {
			...init,
			redirect: "error",
			signal
		});
		return {
			status: response.status,
			headers: response.headers,
			text: await response.text()
		};
	};
}
function pauseAfter$1({ status, headers }, isAgain, retries, tries) {
	if (status !== 429 && !(status === 409 && isAgain) && !retries.isPassing(status)) return null;
	const seconds = Number(headers.get("Retry-After") ?? NaN);
	return Number.isFinite(seconds) ? Math.max(1, seconds) * 1e3 : retries.pause(tries, true);
}
function nextPage(headers) {
	const link = /<([^>]+)>; *rel="next"/.exec(headers.get("Link") ?? "")?.[1];
	if (!link) return null;
	const { searchParams } = new URL(link, "https://here");
	return Object.fromEntries([...new Set(searchParams.keys())].map((name) => [name, searchParams.getAll(name)]));
}
function readBody(url, { status, text }) {
	const body = parseJson(text);
	if (body === null && status !== 204) throw unknownThing(`What answers at ${url} is not Holdfast: its answer is not JSON. Name the service with --url or HOLDFAST_URL.`, status);
	return body;
}
function parseJson(text) {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}
const advice = {
	403: "Use another credential: HOLDFAST_TOKEN, or `gh auth login`. An admin key of the owner can do everything but push scopes.",
	404: "Check the name, and whether Holdfast is installed there."
};
const noRoute = "There is no such route.";
function refusalIn(url, status, body) {
	const detail = body?.detail;
	const says = typeof detail === "string" ? detail : Array.isArray(detail) ? problems(detail) : null;
	if (says === null) return unknownThing(`${url} answers ${status} and does not say why. ${status >= 500 ? "It may be starting or overloaded: try again in a minute, and see holdfast doctor." : "Check that the address is that of a Holdfast."}`, status);
	if (status === 404 && says.startsWith(noRoute)) return refusedBy(`The Holdfast at ${url} is older than this command, and cannot do this. Update it.`, status);
	const message = [says, advice[status]].filter(Boolean).join("\n");
	return status >= 500 || status === 429 ? unknownThing(message, status) : refusedBy(message, status);
}
const problems = (list) => list.map(({ loc, msg }) => {
	const place = Array.isArray(loc) ? loc.slice(1).join(".") : "";
	return place ? `${place}: ${String(msg)}` : String(msg);
}).join("\n");
function noAnswer(url, error) {
	const { message, cause } = error;
	const why = cause instanceof Error && cause.message ? cause.message : message;
	const remedy = isUntrusted(cause) ? "Set NODE_EXTRA_CA_CERTS to a file with the certificate of its signer." : "Start it, or name it with --url or HOLDFAST_URL.";
	return unknownThing(`Holdfast does not answer at ${url} (${why}). ${remedy}`);
}
const isUntrusted = (cause) => /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)/.test(String(cause?.code));
// src/cli/service/connection.ts
const hostOfService = ({ env }) => env.GH_HOST?.trim() || "github.com";
const namedAddress = (world, option) => option ?? (world.env.HOLDFAST_URL?.trim() || savedAddress(world));
function addressOfService(world, option) {
	const named = namedAddress(world, option);
	if (!named) throw misused("Set the address of Holdfast with holdfast login https://holdfast.example.com, or with HOLDFAST_URL.");
	return readAddress(named);
}
function readAddress(text) {
	const url = URL.canParse(text) ? new URL(text) : null;
	if (url && (url.username || url.password || url.search || url.hash)) throw misused("The address of a Holdfast has no user, password, query or fragment. Write one such as https://holdfast.example.com.");
	if (!url || !/^https?:$/.test(url.protocol)) throw misused(`"${text}" is not the address of a Holdfast. Write one such as https://holdfast.example.com.`);
	return url.href.replace(/\/+$/, "").replace(/\/v1$/, "");
}
function isReadableOnTheWay(address) {
	const { protocol, hostname } = new URL(address);
	return protocol === "http:" && !/^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
const addressesFile = (world) => join(settingsFolder(world), "config.json");
function savedAddress(world) {
	const url = hostsIn(readJsonFile(addressesFile(world)))[hostOfService(world)]?.url;
	return typeof url === "string" ? url : null;
}
const hostsIn = (saved) => saved?.["hosts"] ?? {};
async function credentialOf(world, url, option, isInsecure = false) {
	const given = option ?? world.env.HOLDFAST_TOKEN?.trim();
	const ofGh = given ? null : await tokenOfGh(world);
	if (ofGh && !isInsecure && isReadableOnTheWay(url)) throw misused(`Others on the way to ${url} could read your token of gh, and it can do everything that you can do at GitHub. Use https, or send it anyway with --insecure.`);
	const token = given || ofGh || await tokenOfJob(world, url);
	if (!token) throw misused("There is no credential. Sign in with `gh auth login`, or set HOLDFAST_TOKEN to an application key or a GitHub token.");
	if (!/^[\x21-\x7e]+$/.test(token)) throw misused("The credential contains characters that no credential has, such as a space or a quote. Copy it again.");
	return token;
}
async function tokenOfGh(world) {
	const { execFile } = await import("node:child_process");
	const args = [
		"auth",
		"token",
		"--hostname",
		hostOfService(world)
	];
	return new Promise((resolve) => {
		const options = {
			env: world.env,
			timeout: 1e4,
			windowsHide: true
		};
		execFile("gh", args, options, (error, output) => resolve(error ? null : output.trim() || null));
	});
}
const mostTries = 3;
async function tokenOfJob({ env, delay }, audience) {
	const { ACTIONS_ID_TOKEN_REQUEST_URL: address, ACTIONS_ID_TOKEN_REQUEST_TOKEN: credential } = env;
	if (!address || !credential) return null;
	const url = new URL(address);
	url.searchParams.set("audience", audience);
	for (let tries = 1;; tries++) {
		const { token, why, isPassing } = await askForToken(url, credential);
		if (token) return token;
		if (!isPassing) throw misused(`GitHub gives this job no token (${why}). ${remedy}`);
		if (tries >= mostTries) throw unknownThing(`GitHub gives this job no token now (${why}). Run it again.`);
		await delay(1e3 * tries);
	}
}
const remedy = "Give the job permissions: id-token: write, or set HOLDFAST_TOKEN to a key.";
async function askForToken(url, credential) {
	const headers = {
		Authorization: `Bearer ${credential}`,
		Accept: "application/json"
	};
	try {
		const signal = AbortSignal.timeout(servicePatience);
		const response = await fetch(url, {
			headers,
			redirect: "error",
			signal
		});
		const { value } = parseJson(await response.text()) ?? {};
		const token = response.ok && typeof value === "string" && value !== "" ? value : null;
		const isPassing = response.status === 429 || response.status >= 500;
		return {
			token,
			why: `it answers ${response.status}`,
			isPassing
		};
	} catch (error) {
		return {
			token: null,
			why: error.message,
			isPassing: true
		};
	}
}
// src/time/clock.ts
const systemClock = {
	now: () => Date.now(),
	elapsed: () => performance.now(),
	setTimeout: (callback, milliseconds) => setTimeout(callback, milliseconds),
	clearTimeout: (timer) => clearTimeout(timer),
	setInterval: (callback, milliseconds) => setInterval(callback, milliseconds),
	clearInterval: (timer) => clearInterval(timer)
};
// src/cli/world.ts
const thisMachine = () => ({
	env: process.env,
	input: process.stdin,
	out: process.stdout,
	err: process.stderr,
	now: () => systemClock.now(),
	delay: (milliseconds, signal) => setTimeout$1(milliseconds, void 0, { signal }),
	get zone() {
		return zoneOfMachine();
	},
	platform: process.platform,
	home: homeFolder(),
	cwd: process.cwd()
});
function zoneOfMachine() {
	const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
	return timeZone === "Etc/Unknown" ? "UTC" : timeZone;
}
function homeFolder() {
	try {
		return homedir();
	} catch {
		return "/";
	}
}
// src/cli/action-step.ts
async function runStep(names, run) {
	const machine = thisMachine();
	const step = stepOf(machine);
	try {
		const options = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
		const { values } = parseArgs({
			args: process.argv.slice(2),
			options,
			strict: true
		});
		const given = names.map((name) => [name, String(values[name] ?? "").trim() || void 0]);
		process.exitCode = await run(machine, step, Object.fromEntries(given));
	} catch (error) {
		const message = error instanceof CommandStop ? error.message : `Report this: ${error.stack}`;
		step.annotate("error", message);
		process.exitCode = error instanceof CommandStop ? error.exitCode : exitCodes.notKnown;
	}
}
async function connectionOf(world, step) {
	const url = addressOfService(world, void 0);
	if (isReadableOnTheWay(url)) step.annotate("warning", `Others on the way to ${url} can read the credential. Use https.`);
	const token = await tokenFor(world, url);
	step.mask(token);
	return {
		url,
		token
	};
}
async function tokenFor(world, url) {
	const token = world.env.HOLDFAST_TOKEN?.trim() || await tokenOfJob(world, url);
	if (!token) throw misused("There is no credential. Give the input key a CI key of Holdfast, or the job permissions: id-token: write. Pull requests from forks get neither.");
	return credentialOf(world, url, token);
}
function stepOf({ env, out }) {
	const command = (name, text) => void out.write(`::${name}::${escaped(text)}\n`);
	const append = (path, text) => {
		if (path) appendFileSync(path, `${text}\n`);
	};
	return {
		mask: (secret) => command("add-mask", secret),
		log(lines) {
			const token = randomUUID();
			command("stop-commands", token);
			for (const line of lines) out.write(`${line}\n`);
			command(token, "");
		},
		annotate: (kind, message) => command(`${kind} title=Holdfast`, message),
		output(name, value) {
			append(env.GITHUB_OUTPUT, `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
		},
		summarize: (markdown) => append(env.GITHUB_STEP_SUMMARY, markdown)
	};
}
const escaped = (text) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
// src/cli/freezing/pass-gate.ts
const [soonest, latest] = [1, 30];
async function passGate({ now, delay }, service, repository, { environment, base }, wait, onFrozen) {
	if (environment !== void 0 && base !== void 0) throw misused("Write --environment or --base, not both: deployments have no base branch.");
	const ask = () => service.get("/repos/{owner}/{repository}/freeze_state", repository, {
		environment,
		base
	});
	const until = now() + wait;
	let state = await ask().catch((error) => {
		throw cannotTell(error);
	});
	if (state.frozen) onFrozen(state);
	while (state.frozen && now() < until) {
		await delay(Math.min(pauseAfter(state) * 1e3, until - now()));
		state = await ask().catch((error) => {
			if (isPassing(error) && now() < until) return state;
			throw cannotTell(error);
		});
	}
	return state;
}
function pauseAfter({ at, next_transition_at: next }) {
	const seconds = next === null ? latest : Math.ceil((Date.parse(next) - Date.parse(at)) / 1e3);
	return Math.min(latest, Math.max(soonest, seconds));
}
const cannotTell = (error) => error instanceof CommandStop ? unknownThing(error.message, error.status) : error;
function describeGate(name, { environment, base }) {
	if (environment !== void 0) return `${name}, deployments to ${environment}`;
	return base === void 0 ? name : `${name}, merges into ${base}`;
}
// src/cli/freezing/gate-action.ts
const options = [
	"repository",
	"environment",
	"base",
	"wait"
];
async function run(world, step, { wait, ...asked }) {
	const repository = readRepository(asked.repository ?? "");
	const what = onOneLine(describeGate(nameOfTarget(repository), asked));
	const most = readWait(wait);
	const { url, token } = await connectionOf(world, step);
	const service = serviceAt(world, url, token, forJobs);
	const pages = ({ freezes }) => freezes.map((id) => `${url}/repos/${nameOfTarget(repository)}/freezes/${id}`);
	const state = await passGate(world, service, repository, asked, most, (frozen) => step.annotate(most > 0 ? "warning" : "error", [`${what}: ${describeEnd(frozen)}`, ...pages(frozen)].join(" ")));
	step.output("frozen", state.frozen);
	step.output("until", state.next_transition_at ?? "");
	step.log([`${what}: ${state.frozen ? describeEnd(state) : "not frozen."}`]);
	return state.frozen ? exitCodes.frozen : exitCodes.done;
}
const describeEnd = ({ next_transition_at: next }) => next === null ? "frozen until somebody ends the freeze." : `frozen until ${next}.`;
function readWait(text) {
	if (text === void 0 || text === "false") return 0;
	if (text === "true") return Infinity;
	const length = parseDuration(text);
	if (!length) throw misused(`The input wait is "${text}". Write true, or a length of time such as 30m or 2h.`);
	return millisecondsOf(length);
}
await runStep(options, run);
export {};
