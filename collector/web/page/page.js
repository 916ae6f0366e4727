/*
 * The page: asks the collector for the reports of what the address says, hands each answer to the
 * section that shows it, asks again while the range is live and the page is seen, and says so when
 * the range is empty, a report is slow or nobody answers.
 */
import * as address from './address.js';
import {get, Gone, Locked, now, Refused, setToken} from './api.js';
import {Controls, preferences} from './controls.js';
import {$, setText} from './dom.js';
import * as format from './format.js';
import {makeLists, question} from './lists.js';
import {LoadChart} from './loadchart.js';
import {Matrix, PAIRS} from './matrix.js';
import {Tiles} from './tiles.js';
import {ADDRESSES, EVENTS, makeTrouble, SOURCES} from './trouble.js';

const SLOW_MS = 2000, RETRY_MS = 5000;
const POLL_MS = [[3600e3, 5000], [86400e3, 20000], [Infinity, 60000]]; /* by the span */

let view = address.parse(location.search);
let round = new AbortController(); /* of questions; the next one ends it */
let asking = false, timer;

/* ---- sections ---- */

const context = () => ({now: now(), utc: preferences.utc});
const controls = new Controls({change, view: () => view, look});
const tiles = new Tiles(change);
const chart = new LoadChart(change);
const lists = makeLists(change);
const matrix = new Matrix(change);
const trouble = makeTrouble(change);
const answers = new Map(); /* the last of each section, for look() */

/* What each section asks, in the order in which they are seen. */
function questions() {
	const {sort, layer} = view;
	const range = address.parameters(view, []);
	const everywhere = address.parameters(view, ['agent']);
	const ports = address.parameters(view, ['agent', 'port']);
	const filtered = address.parameters(view);

	return [
		{report: 'load', asked: everywhere, show: (result) => tiles.show(result, view)},
		{
			report: 'agents',
			asked: range,
			show: (result) => controls.showAgents(result, view)
		},
		{report: 'history', asked: {...filtered, sort, layer, top: 5}, section: chart},
		...lists.map((section) => ({
			report: section.list.report,
			asked: {...filtered, ...question(section.list, view)},
			section,
			main: section === lists[0]
		})),
		{report: 'matrix', asked: {...filtered, sort, layer, top: PAIRS}, section: matrix},
		{report: 'errors', asked: {...ports, top: SOURCES}, section: trouble.errors},
		{report: 'loss', asked: ports, section: trouble.loss},
		{
			report: 'addresses',
			asked: {...filtered, top: ADDRESSES},
			section: trouble.addresses
		},
		{report: 'events', asked: {...ports, top: EVENTS}, section: trouble.events},
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

	if (Number.isNaN(newest))
		say('There is no data yet: no switch has been heard.');
	else if (result.empty)
		say(`Nothing was heard in this range: the newest data is of ${when}, ${age} ago.`,
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
	say('Still reading the store; a long range takes its time.');
}

function sayFailure(error) {
	$('token-form').hidden = !(error instanceof Locked);
	if (error instanceof Locked)
		say();
	else if (error instanceof Gone)
		say(`The collector does not answer (${error.message}); what is shown may be old.`,
		    'Try again', ask);
	else
		say(`The collector refuses: ${error.message}`);
}

/* ---- a round of questions ---- */

async function askOne({report, asked, section, show, main}, signal) {
	try {
		const result = await get(report, asked, signal);

		if (signal.aborted)
			return;
		const draw = () => (section ? section.show(result, view, context()) : show(result));

		answers.set(section ?? report, draw);
		draw();
		if (main) {
			answers.set('head', () => sayHead(result));
			sayHead(result);
		}
	} catch (error) {
		if (signal.aborted)
			return;
		if (error instanceof Refused)
			section?.fail(error.message);
		else if (!(error instanceof Gone))
			reportError(error); /* a mistake of the page */
		throw error;
	}
}

function schedule(failed) {
	const span = address.spanMs(view.last), every = POLL_MS.find(([most]) => !(span > most))[1];

	clearTimeout(timer);
	if (failed)
		timer = setTimeout(ask, RETRY_MS);
	else if (address.isLive(view) && !document.hidden)
		timer = setTimeout(ask, every);
}

async function ask() {
	round.abort();
	round = new AbortController();
	const {signal} = round, slow = setTimeout(saySlow, SLOW_MS);

	clearTimeout(timer);
	asking = true;
	document.body.setAttribute('aria-busy', 'true');
	const asked = questions().map((one) => askOne(one, signal));
	const outcomes = await Promise.allSettled(asked);

	clearTimeout(slow);
	if (signal.aborted)
		return;
	asking = false;
	document.body.removeAttribute('aria-busy');
	const failures = outcomes.map(({reason}) => reason).filter(Boolean);
	const gone = failures.find((error) => error instanceof Gone);

	/* What one section alone is refused stands in that section. */
	if (gone || !answers.has('head'))
		sayFailure(gone ?? failures[0]);
	else
		answers.get('head')();
	schedule(Boolean(gone));
}

/* ---- what the reader does ---- */

/* The view changes, and with it the address. */
function change(changes) {
	view = address.changed(view, changes);
	history.pushState(null, '', address.format(view));
	begin();
}

function begin() {
	controls.showView(view);
	answers.clear();
	ask();
}

/* The same figures, looked at another way: other colours, other zone. */
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
