/*
 * The page: asks the collector for the reports of what the address says, hands each answer to the
 * section that shows it, asks again while the range is live and the page is seen, and says so when
 * the range is empty, a report is slow or nobody answers.
 */
import * as address from './address.js';
import {Busy, get, Gone, Locked, now, Refused, setToken} from './api.js';
import {Controls, preferences} from './controls.js';
import {$, setAttribute, setText} from './dom.js';
import * as format from './format.js';
import {makeLists} from './lists.js';
import {LoadChart, SERIES} from './loadchart.js';
import {Matrix, PAIRS} from './matrix.js';
import {Tiles} from './tiles.js';
import {ADDRESSES, EVENTS, makeTrouble, SOURCES} from './trouble.js';

const SLOW_MS = 2000, RETRY_MS = 5000;
const HEAD = 'sources';
const POLL_MS = [[3600e3, 5000], [86400e3, 20000], [Infinity, 60000]]; /* by the span asked for */

let view = address.parse(location.search);
let round = new AbortController(); /* of questions; the next one ends it */
let asking = false, timer;

/* ---- sections ---- */

const controls = new Controls({change, view: () => view, look});
const tiles = new Tiles(change);
const chart = new LoadChart(change);
const lists = makeLists(change);
const matrix = new Matrix(change);
const trouble = makeTrouble(change);
const agents = {show: (result) => controls.showAgents(result, view), fail: () => {}};
const answers = new Map(); /* by id: draws again what each section was answered last */

/*
 * What is asked, in the order in which it is seen: a report, its parameters, the section that shows
 * or fails, and the id of its element. HEAD's answer also tells range, completeness and age.
 */
function questions() {
	const {sort, layer} = view;
	const range = address.parameters(view, []);
	const everywhere = address.parameters(view, ['agent']);
	const ports = address.parameters(view, ['agent', 'port']);
	const filtered = address.parameters(view);
	const one = (id, report, asked, section) => ({id, report, asked, section});

	return [
		one('ports', 'load', everywhere, tiles),
		one('agent', 'agents', range, agents),
		one('load', 'history', {...filtered, sort, layer, top: SERIES}, chart),
		...lists.map((list) =>
			one(list.id, list.report, {...filtered, ...list.question(view)}, list)),
		one('matrix', 'matrix', {...filtered, sort, layer, top: PAIRS}, matrix),
		one('trouble-errors', 'errors', {...ports, top: SOURCES}, trouble.errors),
		one('trouble-loss', 'loss', ports, trouble.loss),
		one('trouble-addresses', 'addresses', {...filtered, top: ADDRESSES},
		    trouble.addresses),
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
	else if (error instanceof Busy)
		say(`The collector is busy (${error.message}); what is shown may be old.`);
	else
		say(`The collector refuses: ${error.message}`);
}

/* ---- a round of questions ---- */

/* A section of which the answer to the present view is not there is paler. */
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

/* What the collector cannot say now stays as it was; what it refuses goes. */
function showFailure({id, section}, error) {
	if (error instanceof Refused && !(error instanceof Busy)) {
		answers.delete(id);
		section.fail(error.message);
		setStale(id, false);
	} else if (!(error instanceof Refused || error instanceof Gone))
		reportError(error); /* a mistake of the page */
}

/* The error there was, with the question's id; or undefined. */
async function askOne(question, signal) {
	try {
		const result = await get(question.report, question.asked, signal);

		if (!signal.aborted)
			showAnswer(question, result);
		return undefined;
	} catch (error) {
		if (!signal.aborted)
			showFailure(question, error);
		return {id: question.id, error};
	}
}

/* What one section alone is refused stands in that section. */
function judge(failures) {
	const waiting = failures.find(({error}) => error instanceof Gone || error instanceof Busy);
	const failure = waiting ?? failures.find(({id}) => id === HEAD);

	if (failure)
		sayFailure(failure.error);
	else
		answers.get(HEAD)();
	schedule(Boolean(waiting));
}

function schedule(soon) {
	const span = address.spanMs(view.last);
	const [, every] = POLL_MS.find(([most]) => span <= most) ?? POLL_MS.at(-1);

	clearTimeout(timer);
	if (soon)
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
	setAttribute(document.body, 'data-busy', 'yes');
	const failures = await Promise.all(questions().map((one) => askOne(one, signal)));

	clearTimeout(slow);
	if (signal.aborted)
		return;
	asking = false;
	setAttribute(document.body, 'data-busy', undefined);
	judge(failures.filter(Boolean));
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
	for (const {id} of questions())
		setStale(id, true);
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
