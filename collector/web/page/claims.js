/*
 * The "?" of each section: what its figures claim, in the sentences of `easetop claims`. They are fetched when one is
 * opened first.
 */
import {get} from './api.js';
import {$, make} from './dom.js';

const LIST = ['row', 'low', 'estimate', 'hiding', 'rank', 'others', 'not_seen', 'rest', 'no_sample', 'unseen', 'look',
	'divided', 'uncounted', 'partly'];
const CLAIMS = {
	ports: ['counted', 'check', 'divided', 'uncounted', 'partly'],
	load: ['counted', 'step', 'look', 'divided', 'uncounted', 'partly'],
	sources: LIST,
	destinations: LIST,
	conversations: LIST,
	connections: ['attempts', ...LIST],
	protocols: LIST,
	matrix: ['row', 'low', 'estimate', 'look'],
	trouble: ['completeness', 'no_sample'],
};

let asked; /* a promise of all claims, by id */

async function ask() {
	const all = await get('claims', {}, new AbortController().signal);

	return new Map(all.map((claim) => [claim.id, claim]));
}

async function fill(list, ids) {
	asked ??= ask();
	try {
		const claims = await asked;

		list.replaceChildren(...ids.flatMap((id) => [
			make('dt', {text: claims.get(id).printed}), make('dd', {text: claims.get(id).claim})
		]));
	} catch (error) {
		asked = undefined; /* the next opening asks again */
		list.replaceChildren(make('dd', {text: `The collector does not say: ${error.message}`}));
	}
}

/* After the sections are made. The ports' is their last, so that the skip link still leads to the first port. */
export function makeClaims() {
	for (const [id, ids] of Object.entries(CLAIMS)) {
		const section = $(id), list = make('dl');
		const name = `What the figures of ${section.querySelector('h2').textContent} claim`;
		const claims = make('details', {class: 'claims'},
		    make('summary', {'aria-label': name, title: name, text: '?'}), list);

		claims.addEventListener('toggle', () => {
			if (claims.open && !list.firstElementChild)
				fill(list, ids);
		});
		(id === 'ports' ? section : section.querySelector('.title')).append(claims);
	}
}
