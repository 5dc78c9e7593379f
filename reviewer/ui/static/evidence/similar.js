// The nearest approved spectra of this database, with links.

import { h } from '../common/dom.js'
import { significant } from '../common/format.js'
import { t, tn } from '../common/language.js'
import { sparkline } from '../spectrum/sparklines.js'

/** @param {import('./aids.js').Aids} aids */
export async function draw(aids) {
  const { items, compared, note } = await aids.similar()
  const element = h(
    'div.similar',
    compared > 0 &&
      h('p.summary', tn('Compared with {n} approved spectrum.', 'Compared with {n} approved spectra.', compared)),
    note && h('p.muted', note),
    h('ol', items.map(entry)),
    about(),
  )
  return { element }
}

const entry = ({ id, name, task, verdict, simulated, distance, spectrum }) =>
  h(
    'li',
    h('a', { href: `#item=${id}`, title: name }, `#${id} ${name}`),
    h(
      'span.muted',
      [task, verdict, simulated && t('simulated'), t('distance {value}', { value: significant(distance, 2) })]
        .filter(Boolean)
        .join(' · '),
    ),
    sparkline(spectrum),
  )

const about = () =>
  h(
    'details.about',
    h('summary', t('What near means')),
    h(
      'p',
      t(
        'Spectra are compared by shape, at rest and without their continuum: 0 is the same shape, 1 nothing in ' +
          'common. Only approved items are compared, never this spectrum under another question.',
      ),
    ),
  )
