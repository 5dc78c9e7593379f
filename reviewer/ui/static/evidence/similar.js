// The nearest approved spectra of this database, with links.

import { h } from '../common/dom.js'
import { significant } from '../common/format.js'
import { t, tn } from '../common/language.js'
import { sparkline } from '../spectrum/sparklines.js'
import { about } from './aids.js'

/** @param {import('./aids.js').Aids} aids */
export async function draw(aids) {
  const { items, compared, note } = await aids.similar()
  const element = h(
    'div.similar',
    compared > 0 &&
      h('p.summary', tn('Compared with {n} approved spectrum.', 'Compared with {n} approved spectra.', compared)),
    note && h('p.muted', note),
    h('ol', items.map(entry)),
    about(t('What near means'), ABOUT),
  )
  return { element }
}

function entry({ id, name, task, verdict, simulated, distance, spectrum }) {
  const far = t('distance {value}', { value: significant(distance, 2) })
  const facts = [task, verdict, simulated && t('simulated'), far]
  return h(
    'li',
    h('a', { href: `#item=${id}`, title: name }, `#${id} ${name}`),
    h('span.muted', facts.filter(Boolean).join(' · ')),
    sparkline(spectrum),
  )
}

const ABOUT = t(
  'Spectra are compared by shape, at rest and without their continuum: 0 is the same shape, 1 nothing in ' +
    'common. Only approved items are compared, never this spectrum under another question.',
)
