// The ranking of library templates: choose one and it is drawn over the data.

import { h } from '../common/dom.js'
import { redshift } from '../common/format.js'
import { t } from '../common/language.js'
import { sparkline } from '../spectrum/sparklines.js'
import { about, chi2Text, velocityText } from './aids.js'

/** @param {import('./aids.js').Aids} aids */
export async function draw(aids) {
  const ranked = await aids.templates()
  const rows = new Map()
  const radio = (match) => {
    const onchange = () => aids.choose(match).catch((error) => aids.notices.error(error))
    const input = h('input', { type: 'radio', name: `so-template-${aids.name}`, value: match.id, onchange })
    rows.set(match.id, input)
    return input
  }
  const others = ranked.best_of_class.filter((match) => !ranked.matches.some(({ id }) => id === match.id))
  const off = h('button.so-small', { onclick: () => aids.chosen && aids.overlay('template') }, t('none'))
  const element = h(
    'div.templates',
    h('p.summary', t('Drawn over the data:'), ' ', off),
    ranked.matches.length === 0 && h('p.muted', ranked.note),
    list(t('Best matches'), ranked.matches, radio),
    others.length > 0 && list(t('Best of other classes'), others, radio),
    about(t('How they are ranked'), ABOUT, ranked.note),
  )
  const show = () => {
    for (const [id, input] of rows) input.checked = id === aids.chosen
    off.disabled = !aids.chosen
  }
  show()
  aids.addEventListener('template', show)
  return { element, leave: () => aids.removeEventListener('template', show) }
}

function list(title, matches, radio) {
  if (!matches.length) return null
  return h(
    'fieldset',
    h('legend', title),
    h(
      'div.match.head',
      { 'aria-hidden': 'true' },
      h('span'),
      h('span', t('template')),
      h('span', { title: t('χ² per degree of freedom; smaller is better, 1 is a perfect fit') }, 'χ²ν'),
      h('span', { title: t('Radial velocity at which the template fits best') }, t('velocity, km/s')),
    ),
    matches.map((match) => {
      const values = { percent: Math.round(100 * match.overlap), z: redshift(match.z) }
      return h(
        'label.match',
        { title: t('covers {percent} % of the spectrum · z = {z}', values) },
        radio(match),
        h('span', match.name, h('span.class', [match.class, match.subtype].filter(Boolean).join(' · '))),
        h('span.number', chi2Text(match)),
        h('span.number', velocityText(match, '')),
        sparkline(`template:${match.id}`),
      )
    }),
  )
}

const ABOUT = t(
  'Each template is shifted in velocity, multiplied by a smooth function of wavelength, and compared with the ' +
    'data by χ². The library, its citation and its licence are in the tooltip of the legend above the plot. ' +
    't draws the best one, T the next.',
)
