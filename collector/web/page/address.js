/*
 * A view is what the page shows: the range, the filters, and how rows are made. The address of the
 * page contains all of it, so that a link can be sent and the back button works. Names are
 * easetop's options. Pure functions: a view is never modified, changed() returns a new one.
 */
import {toRfc3339} from './format.js';

const DEFAULTS = {
	last: '5m',
	layer: 'ip',
	sort: 'octets',
	by: 'port',
	step: 'auto'
};
const FILTERS = ['agent', 'port', 'vlan', 'addr', 'proto']; /* short forms, one of each */
const NAMES = ['last', 'from', 'to', ...FILTERS, 'layer', 'sort', 'by', 'group', 'step', 'open'];
const UNIT_MS = {
	s: 1000,
	m: 60000,
	h: 3600000,
	d: 86400000
};

export const PRESETS = ['5m', '15m', '1h', '6h', '1d', '7d', '30d', 'all'];

export function parse(search) {
	const asked = new URLSearchParams(search), view = {};

	for (const name of NAMES)
		view[name] = asked.get(name) || DEFAULTS[name];
	view.filter = asked.getAll('filter').filter(Boolean);
	if (view.from || view.to)
		view.last = undefined;
	return view;
}

export function format(view) {
	const search = new URLSearchParams();

	for (const name of NAMES)
		if (view[name] && view[name] !== DEFAULTS[name])
			search.set(name, view[name]);
	for (const filter of view.filter)
		search.append('filter', filter);
	return search.size ? `?${search}` : location.pathname;
}

/* A range of one kind replaces a range of the other kind. `also` and `without` are expressions that the filter then
 * has, or has no longer. */
export function changed(view, {also, without, ...changes}) {
	const next = {...view, ...changes};

	if (also || without)
		next.filter = [...view.filter.filter((one) => one !== also && one !== without), ...also ? [also] : []];

	if (changes.last)
		next.from = next.to = undefined;
	if (changes.from || changes.to)
		next.last = undefined;
	if ('agent' in changes && !('port' in changes))
		next.port = undefined;
	return next;
}

export function isLive(view) {
	return Boolean(view.last);
}

export function filtersOf(view) {
	return [...FILTERS.filter((name) => view[name]).map((name) => ({name, value: view[name], undo: {[name]: undefined}})),
		...view.filter.map((value) => ({name: 'filter', value, undo: {without: value}}))];
}

/* Whether the view has an expression, or one of these: of frames, which not all reports are of. */
export function filtersFrames(view, names) {
	return view.filter.length > 0 || names.some((name) => view[name]);
}

/* Parameters of a report: the range, or the moment that has it, and the filters named; one with several values is
 * given several times. */
export function parameters(view, filters = [...FILTERS, 'filter'], moment = undefined) {
	const asked = moment ? {moment} : {};

	for (const name of [...moment ? [] : ['last', 'from', 'to'], ...filters])
		if (view[name]?.length)
			asked[name] = view[name];
	return asked;
}

/* Of "5m"; NaN of "all". */
export function spanMs(last) {
	const match = /^(\d+)([smhd])$/.exec(last ?? '');

	return match ? Number(match[1]) * UNIT_MS[match[2]] : NaN;
}

/* Ranges that can be shown in steps of ten seconds. */
export function isHourAtMost(view) {
	const span = isLive(view) ? spanMs(view.last) : Date.parse(view.to) - Date.parse(view.from);

	return span <= UNIT_MS.h;
}

/* The parameter of a history's steps; none: the collector chooses. */
export function stepOf(view) {
	return view.step !== DEFAULTS.step && isHourAtMost(view) ? {step: view.step} : {};
}

/* A range of whole minutes, of one at least: reports count minutes whole. */
export function range(from, to) {
	const first = Math.floor(from / UNIT_MS.m);
	const end = Math.max(Math.ceil(to / UNIT_MS.m), first + 1);

	return {from: toRfc3339(first * UNIT_MS.m), to: toRfc3339(end * UNIT_MS.m)};
}

/* The range before (-1) or after (+1) the one that was answered. */
export function stepped(view, answered, direction) {
	const span = isLive(view) && spanMs(view.last) || answered.to - answered.from;
	const from = answered.from + direction * span;

	return changed(view, range(from, from + span));
}

const PORTS_OF = {6: 'tcp', 17: 'udp', 132: 'sctp'}; /* protocols whose name stands before "port" */

/* The filter of a kind of ICMP's messages. */
export function icmp(row) {
	return `proto ${row.protocol} and icmp-type ${row.icmp_type} and icmp-code ${row.icmp_code}`;
}

/* The filter of a service, as the collector reads it. */
export function service(protocol, port) {
	return protocol in PORTS_OF ? `${PORTS_OF[protocol]} port ${port}` : `proto ${protocol} and port ${port}`;
}

/* What lists of addresses have rows of: the parameters of a report of sources, or ('dst-') of destinations. */
export function rowsOf({group, layer}, side = '') {
	return group ? {by: `${side}${group}`} : {layer};
}

/* What a key of such rows filters by: the address, or as source ('src') or destination the group. */
export function onlyOf(side, group, key) {
	return group ? {also: `${side} ${group} "${key.replace(/["\\]/g, '\\$&')}"`} : {addr: key};
}
