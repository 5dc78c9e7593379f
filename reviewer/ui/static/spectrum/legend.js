// What colours and signs of the plots mean.

import { h } from '../common/dom.js'
import { t } from '../common/language.js'
import { svg } from './marks.js'

const box = (name, more = {}) => svg('rect', { class: name, x: 3, y: 1, width: 24, height: 14, ...more })
const line = (kind) => svg('g', { class: `so-line ${kind}` }, svg('path', { class: 'so-dots', d: 'M15 16V0' }))

/** @type {[(hatch: string) => SVGElement, string][]} what is drawn, what it means */
const ENTRIES = [
  [() => line('so-task'), t('Orange: a line or band head of the guide of this class')],
  [() => line('so-emission'), t('Grey, dotted: another line, in emission or both')],
  [() => line('so-absorption'), t('Grey, dashed: another line, in absorption')],
  [() => box('so-window so-selected'), t('Blue: the window of a step, with its number')],
  [
    () => box('so-band so-sky-region'),
    t('Grey strip: sky line or telluric band; it does not move with z; point at it to see its whole width'),
  ],
  [() => box('so-band so-join'), t('Dashed edges: where the arms of the spectrograph join')],
  [() => box('so-swatch-error'), t('Pale: ±1σ')],
  [
    (hatch) => box('so-gap', { fill: `url(#${hatch})` }),
    t('Hatched: no data (ivar = 0); I draws what the file has there'),
  ],
  [() => svg('path', { class: 'so-masked', d: 'M3 11h24v5h-24z' }), t('Orange foot: flagged by the survey')],
  [
    () => svg('g', { class: 'so-off-scale' }, svg('path', { d: 'M11 12l4 -7l4 7z' })),
    t('Triangle: data beyond the drawn range; point at it for the value'),
  ],
]

/** What opens in the menu of the plots. @param {string} hatch the id of the pattern of hatching */
export const legend = (hatch) =>
  h(
    'details.so-key',
    h('summary', t('What colours and signs mean')),
    h(
      'ul',
      ENTRIES.map(([draw, text]) =>
        h('li', svg('svg', { width: 30, height: 16, 'aria-hidden': 'true' }, draw(hatch)), text),
      ),
    ),
  )
