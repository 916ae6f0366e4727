/*
 * Asks the collector: GET /api/v1/NAME. Failures are of kinds that need different words: refused
 * (it answers, and says why; locked and busy are such), and gone (nobody answers). Also knows the
 * collector's clock, by which ages are reckoned, from what it stamps its answers with.
 */

const TIMEOUT_MS = 60000; /* a month of raw samples may take some seconds; a minute is broken */

let behindMs = 0; /* of this machine's clock */

export function now() {
	return Date.now() + behindMs;
}

export class Refused extends Error {}
export class Gone extends Error {}
export class Locked extends Refused {} /* it wants a token */
export class Busy extends Refused {} /* it may answer a little later */

const KINDS = {401: Locked, 429: Busy, 503: Busy};

/* The token of a collector that wants one: kept while the browser's tab is open. */
export function setToken(token) {
	sessionStorage.setItem('token', token);
}

function headers() {
	const token = sessionStorage.getItem('token');

	return token ? {Authorization: `Bearer ${token}`} : {};
}

function setClock(answer) {
	const stamp = Date.parse(answer.headers.get('Date') ?? '');

	/* The stamp is cut to seconds: what is less apart is the same time. */
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

/* The report's object. Throws Refused, Gone, or AbortError if the caller no longer wants it. */
export async function get(name, asked, signal) {
	const search = new URLSearchParams(asked);
	let answer;

	try {
		answer = await fetch(`api/v1/${name}?${search}`, {
			signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
			cache: 'no-store',
			headers: headers(),
		});
		setClock(answer);
		if (answer.ok)
			return await answer.json();
	} catch (error) {
		if (signal.aborted)
			throw error;
		throw new Gone(
		    error.name === 'TimeoutError' ? 'not within a minute' : 'nobody is there');
	}
	const reason = await reasonOf(answer) ?? `${answer.status} ${answer.statusText}`;

	throw new (KINDS[answer.status] ?? Refused)(reason);
}
