/*
 * Requests to the collector: GET /api/v1/NAME. Failures are of kinds that need different messages:
 * refused (the collector answers with a reason; locked and busy are such), and gone (no answer).
 * Ages are computed by the collector's clock, from the Date header of its answers.
 */

const TIMEOUT_MS = 60000; /* a month of samples takes some seconds; a minute means a failure */

let behindMs = 0; /* that this machine's clock is behind the collector's */

export function now() {
	return Date.now() + behindMs;
}

export class Refused extends Error {}
export class Gone extends Error {}
export class Locked extends Refused {} /* a token is required */
export class Busy extends Refused {} /* the collector may answer a little later */

const KINDS = {401: Locked, 429: Busy, 503: Busy};

/* The collector's token is kept while the browser's tab is open. */
export function setToken(token) {
	sessionStorage.setItem('token', token);
}

function headers() {
	const token = sessionStorage.getItem('token');

	return token ? {Authorization: `Bearer ${token}`} : {};
}

function setClock(answer) {
	const stamp = Date.parse(answer.headers.get('Date') ?? '');

	/* The stamp has whole seconds: a smaller difference means nothing. */
	if (!Number.isNaN(stamp))
		behindMs = Math.abs(stamp - Date.now()) > 2000 ? stamp - Date.now() : 0;
}

async function reasonOf(answer) {
	try {
		return (await answer.json()).error;
	} catch {
		return undefined;
	}
}

/* Calls ask(until); the signal until ends with the caller's, or after TIMEOUT_MS, which throws Gone. Without
 * AbortSignal.any() and timeout(), which browsers have since 2024. */
async function limited(signal, ask) {
	const limit = new AbortController(), end = () => limit.abort();
	const timer = setTimeout(end, TIMEOUT_MS);

	signal.addEventListener('abort', end);
	if (signal.aborted)
		end();
	try {
		return await ask(limit.signal);
	} catch (error) {
		if (signal.aborted)
			throw error;
		throw new Gone(limit.signal.aborted ? 'no answer within a minute' : 'no connection');
	} finally {
		clearTimeout(timer);
		signal.removeEventListener('abort', end);
	}
}

/* What `read` makes of the answer. Throws Refused, Gone, or AbortError if the caller has aborted the request. */
async function request(name, asked, signal, read) {
	const values = Object.entries(asked).flatMap(([key, all]) => [all].flat().map((value) => [key, value]));
	const search = new URLSearchParams(values);
	const {answer, report} = await limited(signal, async (until) => {
		const answer = await fetch(`api/v1/${name}?${search}`, {
			signal: until,
			cache: 'no-store',
			headers: headers(),
		});

		setClock(answer);
		return {answer, report: answer.ok ? await read(answer) : undefined};
	});

	if (answer.ok)
		return report;
	const reason = await reasonOf(answer) ?? `${answer.status} ${answer.statusText}`;

	throw new (KINDS[answer.status] ?? Refused)(reason);
}

/* The report's object. */
export function get(name, asked, signal) {
	return request(name, asked, signal, (answer) => answer.json());
}

/* Saves the report as CSV, under its name. A link could not carry the token. */
export async function save(name, asked) {
	const file = await request(name, {...asked, format: 'csv'}, new AbortController().signal, (answer) => answer.blob());
	const link = document.createElement('a');

	link.href = URL.createObjectURL(file);
	link.download = `${name}.csv`;
	link.click();
	URL.revokeObjectURL(link.href);
}
