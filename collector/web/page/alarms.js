/*
 * Alarms that stand, and those of the range that are over: at the top of the page while there are any.
 */
import {$, onFilter, reconcile, setAttribute, setText} from './dom.js';
import * as format from './format.js';
import {fillLine, makeLine, placeOf, portFilter} from './trouble.js';

const LINES = 6;
export const ALARMS = 100; /* asked for: those that stand first */

/* The key is an address, or an address and what it does. */
function filterOf(row) {
	const [address] = (row.key ?? '').split(' ');

	return {...portFilter(row), ...(/^[0-9a-f.:]{2,}$/i.test(address) ? {addr: address} : {})};
}

function lineOf(row, {now, utc}) {
	const over = row.until ? `, over since ${format.shortTime(Date.parse(row.until), now, utc)}` : '';

	return {
		what: [row.key, row.rule].filter(Boolean).join(': '),
		where: `${placeOf(row)}${row.state === 'not known' ? ', not known whether it stands' : over}`,
		when: row.since,
		filter: filterOf(row),
		stands: row.state === 'stands',
	};
}

export class Alarms {
	constructor(change) {
		onFilter($('alarms-list'), change);
	}

	show(result, view, context) {
		const lines = result.rows.map((row) => lineOf(row, context)), stand = lines.filter((line) => line.stands).length;
		const shown = lines.slice(0, Math.max(LINES, Math.min(stand, ALARMS))).map((line, i) => ({line, i}));

		$('alarms').hidden = lines.length === 0;
		setText($('alarms-sum'), stand ? `${format.plural(stand, 'alarm')} now` : 'none now');
		setAttribute($('alarms'), 'data-bad', stand ? 'yes' : undefined);
		reconcile($('alarms-list'), shown, ({i}) => i, makeLine, (element, {line}) => {
			fillLine(element, line, context);
			setAttribute(element, 'data-stands', line.stands ? 'yes' : undefined);
		});
		setText($('alarms-note'), lines.length > shown.length ? `${format.count(lines.length - shown.length)} more.` : '');
	}

	fail(text) {
		$('alarms').hidden = false;
		setText($('alarms-note'), text);
	}
}
