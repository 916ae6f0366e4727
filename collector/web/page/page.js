/*
 * The page: requests the reports of the view from the collector, gives each answer to the section
 * that shows it, repeats this while the range is live and the page is visible, and shows a message
 * when the range is empty, a report is slow or the collector does not answer.
 */
import * as address from './address.js';
import {Busy, get, Gone, Locked, now, Refused, setToken} from './api.js';
import {makeClaims} from './claims.js';
import {Controls, preferences} from './controls.js';
import {$, setAttribute, setText} from './dom.js';
import * as format from './format.js';
import {makeLists} from './lists.js';
import {LoadChart, SERIES} from './loadchart.js';
import {Matrix, PAIRS} from './matrix.js';
import {Tiles} from './tiles.js';
import {ALARMS, Alarms} from './alarms.js';
import {ADDRESSES, EVENTS, LINKS, makeTrouble, SOURCES} from './trouble.js';

const SLOW_MS = 2000, RETRY_MS = 5000;
const HEAD = 'sources';
const POLL_MS = [[3600e3, 1000], [86400e3, 20000], [Infinity, 60000]]; /* by the length of the range */
const POLL_REST = 4, POLL_SLOW_MS = 5000; /* a round that takes long is followed by as many times as much rest */

let view = address.parse(location.search);
let round = new AbortController(); /* of requests; the next round ends it */
let asking = false, timer;
let tookMs = 0; /* the round before */
let refused; /* the collector's reason to refuse the filter typed last */

/* ---- sections ---- */

const controls = new Controls({change, tryFilter, view: () => view, look});
const tiles = new Tiles(change);
const chart = new LoadChart(change);
const lists = makeLists(change);
const matrix = new Matrix(change);
const alarms = new Alarms(change);
const trouble = makeTrouble(change);
makeClaims();
const agents = {
	show(result, ...context) {
		controls.showAgents(result, view);
		trouble.agents.show(result, ...context);
	},
	fail: (text) => trouble.agents.fail(text),
};
const answers = new Map(); /* by id: draws a section's last answer again */

/*
 * The requests of a view, in the order in which their answers are seen: a report, its parameters,
 * the section that shows it or its failure, and the id of the section's element. HEAD's answer also
 * has range, completeness and age. cannot: the section has no such filter, and is not asked.
 */
function questions(view, moment) {
	const {sort, layer} = view;
	const range = address.parameters(view, [], moment);
	const everywhere = address.parameters(view, ['agent'], moment);
	const ports = address.parameters(view, ['agent', 'port'], moment);
	const filtered = address.parameters(view, undefined, moment);
	const one = (id, report, asked, section, cannot) => ({id, report, asked, section, cannot});

	return [
		one('ports', 'load', everywhere, tiles),
		one('agent', 'agents', range, agents),
		one('load', 'history', {...filtered, sort, ...address.rowsOf(view), top: SERIES, ...address.stepOf(view)}, chart),
		...lists.map((list) =>
			one(list.id, list.report, {...filtered, ...list.question(view)}, list,
			    list.report === 'connections' && address.filtersFrames(view, ['vlan', 'proto']))),
		one('matrix', 'matrix', {...filtered, sort, layer, top: PAIRS}, matrix),
		one('alarms', 'alarms', {...ports, top: ALARMS}, alarms),
		one('trouble-errors', 'errors', {...ports, top: SOURCES}, trouble.errors),
		one('trouble-drops', 'drops', {...ports, by: 'reason', top: SOURCES}, trouble.drops),
		one('trouble-delay', 'delay', {...filtered, by: 'port', top: SOURCES}, trouble.delay),
		one('trouble-links', 'links', {...ports, top: LINKS}, trouble.links),
		one('trouble-loss', 'loss', ports, trouble.loss),
		one('trouble-precision', 'precision', ports, trouble.precision),
		one('trouble-addresses', 'addresses', {...filtered, top: ADDRESSES},
		    trouble.addresses, address.filtersFrames(view, ['proto'])),
		one('trouble-events', 'events', {...ports, top: EVENTS}, trouble.events),
	];
}

/* ---- messages ---- */

function say(text, action, act) {
	$('message').hidden = !text;
	setText($('message-text'), text ?? '');
	$('message-do').hidden = !action;
	setText($('message-do'), action ?? '');
	$('message-do').onclick = act ?? null;
}

/* The range of the same length that ends with the newest data. */
function newestRange(result) {
	const [newest, from, to] = [result.newest, result.from, result.to].map(Date.parse);

	return address.range(Math.max(0, newest - (to - from)), newest);
}

function sayState(result) {
	const newest = Date.parse(result.newest ?? '');
	const when = format.time(newest, preferences.utc);
	const age = format.age((now() - newest) / 1000);

	if (refused)
		sayRefused(refused);
	else if (Number.isNaN(newest))
		say('There is no data yet: no switch has sent any.');
	else if (result.empty)
		say(`There is no data in this range. The newest data is from ${when}, ${age} ago.`,
		    'Show it', () => change(newestRange(result)));
	else
		say();
}

function sayHead(result) {
	$('token-form').hidden = true;
	controls.showAnswer(result);
	sayState(result);
}

function saySlow() {
	say('Still reading the store; a long range can take some seconds.');
}

function sayRefused(reason) {
	say(`The collector cannot answer this: ${reason}`);
}

function sayFailure(error) {
	$('token-form').hidden = !(error instanceof Locked);
	if (error instanceof Locked)
		say();
	else if (error instanceof Gone)
		say(`The collector does not answer (${error.message}). The figures may be old.`,
		    'Try again', ask);
	else if (error instanceof Busy)
		say(`The collector is busy (${error.message}). The figures may be old.`);
	else
		sayRefused(error.message);
}

/* ---- a round of questions ---- */

/* A section that does not show the answer to the present view yet is paler. */
function setStale(id, stale) {
	setAttribute($(id), 'data-stale', stale ? 'yes' : undefined);
}

function showAnswer({id, section}, result) {
	const draw = () => {
		section.show(result, view, {now: now(), utc: preferences.utc});
		if (id === HEAD)
			sayHead(result);
	};

	answers.set(id, draw);
	draw();
	setStale(id, false);
}

/* A section without an answer for now stays as it was; one that is refused is emptied. The reason
 * that the message above shows already is not repeated. */
function showRefusal({id, section}, reason, told) {
	answers.delete(id);
	section.fail(reason === told ? format.UNKNOWN : reason);
	setStale(id, false);
}

function isRefusal(error) {
	return error instanceof Refused && !(error instanceof Busy);
}

/* All questions of a round are put to one moment, so that sections are of one range and agree; undefined where that
 * cannot be had: then each answer says why. */
async function momentOf(view, signal) {
	try {
		const {moment, groups} = await get('moment', address.parameters(view), signal);

		for (const list of lists)
			list.offer(groups ?? [], view);
		return moment;
	} catch {
		return undefined;
	}
}

/* The error, with its question; or undefined. */
async function askOne(question, signal) {
	if (question.cannot) {
		showRefusal(question, 'This section cannot be filtered so.');
		return undefined;
	}
	try {
		const result = await get(question.report, question.asked, signal);

		if (!signal.aborted)
			showAnswer(question, result);
		return undefined;
	} catch (error) {
		if (!signal.aborted && !(error instanceof Refused || error instanceof Gone))
			reportError(error); /* a mistake of the page */
		return {question, error};
	}
}

/* A refusal of HEAD is shown in the message, that of another section in the section. */
function judge(failures) {
	const waiting = failures.find(({error}) => error instanceof Gone || error instanceof Busy);
	const failure = waiting ?? failures.find(({question}) => question.id === HEAD);

	for (const {question, error} of failures)
		if (isRefusal(error))
			showRefusal(question, error.message, failure?.error.message);
	if (failure)
		sayFailure(failure.error);
	else
		answers.get(HEAD)();
	schedule(Boolean(waiting));
}

function schedule(soon) {
	const span = address.spanMs(view.last);
	const [, least] = POLL_MS.find(([most]) => span <= most) ?? POLL_MS.at(-1);
	const every = Math.max(least, Math.min(POLL_REST * tookMs, POLL_SLOW_MS));

	clearTimeout(timer);
	if (soon)
		timer = setTimeout(ask, RETRY_MS);
	else if (address.isLive(view) && !document.hidden)
		timer = setTimeout(ask, every);
}

async function ask() {
	round.abort();
	round = new AbortController();
	const {signal} = round, slow = setTimeout(saySlow, SLOW_MS), began = performance.now();

	clearTimeout(timer);
	asking = true;
	setAttribute(document.body, 'data-busy', 'yes');
	const moment = await momentOf(view, signal);
	const failures = await Promise.all(questions(view, moment).map((one) => askOne(one, signal)));

	clearTimeout(slow);
	if (signal.aborted)
		return;
	asking = false;
	tookMs = performance.now() - began;
	setAttribute(document.body, 'data-busy', undefined);
	judge(failures.filter(Boolean));
}

/* ---- what the user does ---- */

/* Changes the view unless the collector refuses it. The moment is the first request of the new view, so
 * the collector answers it only once. False: refused, and the message says why. */
async function tryFilter(changes) {
	const asked = address.parameters(address.changed(view, changes));

	try {
		await get('moment', asked, new AbortController().signal);
	} catch (error) {
		if (isRefusal(error) && !(error instanceof Locked)) {
			refused = error.message;
			sayRefused(refused);
			return false;
		}
	}
	change(changes);
	return true;
}

/* The view changes, and with it the address. */
function change(changes) {
	view = address.changed(view, changes);
	history.pushState(null, '', address.format(view));
	begin();
}

function begin() {
	refused = undefined;
	controls.showView(view);
	answers.clear();
	for (const {id} of questions(view))
		setStale(id, true);
	ask();
}

/* Draws the same figures with other colours, or in another time zone. */
function look() {
	for (const draw of answers.values())
		draw();
	controls.tick();
}

$('token-form').addEventListener('submit', (event) => {
	event.preventDefault();
	setToken($('token').value);
	ask();
});
addEventListener('popstate', () => {
	view = address.parse(location.search);
	begin();
});
document.addEventListener('visibilitychange', () => {
	if (document.hidden)
		clearTimeout(timer);
	else if (address.isLive(view) && !asking)
		ask();
});
setInterval(() => controls.tick(), 1000);
begin();
