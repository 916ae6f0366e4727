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

/* The request ends with the signal or after TIMEOUT_MS; browsers before 2023 have no such limit. */
function limited(signal) {
	return AbortSignal.any ? AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) : signal;
}

/* The report's object. Throws Refused, Gone, or AbortError if the caller has aborted the request. */
export async function get(name, asked, signal) {
	const search = new URLSearchParams(asked), until = limited(signal);
	let answer;

	try {
		answer = await fetch(`api/v1/${name}?${search}`, {
			signal: until,
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
		    error.name === 'TimeoutError' ? 'no answer within a minute' : 'no connection');
	}
	const reason = await reasonOf(answer) ?? `${answer.status} ${answer.statusText}`;

	throw new (KINDS[answer.status] ?? Refused)(reason);
}
