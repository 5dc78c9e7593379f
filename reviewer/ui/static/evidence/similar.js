// The nearest approved spectra of this database, with links.

import { h } from '../common/dom.js'
import { significant } from '../common/format.js'

/** @param {import('./aids.js').Aids} aids */
export async function draw(aids) {
  const { items, compared, note } = await aids.similar()
  const element = h(
    'div.similar',
    {},
    h('p.summary', {}, `Compared with ${compared} approved ${compared === 1 ? 'spectrum' : 'spectra'}.`),
    items.length === 0 && h('p.muted', {}, note || 'No approved spectrum can be compared with this one yet.'),
    h('ol', {}, items.map(entry)),
    h(
      'details.about',
      {},
      h('summary', {}, 'What near means'),
      h('p', {}, note || 'The distance between normalised spectra at rest; 0 is identical.'),
    ),
  )
  return { element }
}

const entry = ({ id, name, task, verdict, state, distance }) =>
  h(
    'li',
    {},
    h('a', { href: `#item=${id}` }, `#${id} ${name}`),
    h(
      'span.muted',
      {},
      ` ${[task, verdict, state].filter(Boolean).join(' · ')} · distance ${significant(distance, 3)}`,
    ),
  )
