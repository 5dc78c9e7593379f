// The reliability diagram of the Trust section as a plain plotly figure, and the bar of the verdicts.

import { t, tn } from '../common/language.js'
import { h } from '../common/dom.js'
import { number } from '../common/format.js'
import { axis, frame } from './charts.js'

/**
 * The reliability diagram: the share of YES among the labels in each bin of P(YES), with its interval.
 * @param {any} figures @param {any} colours
 */
export function reliabilityDiagram({ reliability: { bins } }, colours) {
  if (!bins.length) return { none: t('Undefined: no spectrum with a label has a P(YES).') }
  const share = { ...axis(colours), range: [-0.02, 1.02], tickvals: [0, 0.2, 0.4, 0.6, 0.8, 1] }
  const title = (/** @type {string} */ text) => ({ text, font: { color: colours.muted, size: 12 }, standoff: 6 })
  const diagonal = { color: colours.muted, width: 1, dash: 'dash' }
  const interval = { type: 'data', symmetric: false, color: colours.approved, thickness: 1.5, width: 4 }
  const above = bins.map((bin) => bin.high - bin.share)
  const below = bins.map((bin) => bin.share - bin.low)
  const labels = ({ n }) => tn('{n} label', '{n} labels', n, { n: number(n) })
  const values = { share: '%{y:.2f}', low: '%{customdata[1]}', high: '%{customdata[2]}' }
  const words = t('share of YES {share} ({low} to {high})', values)
  return {
    traces: [
      { type: 'scatter', mode: 'lines', x: [0, 1], y: [0, 1], line: diagonal, hoverinfo: 'skip' },
      {
        ...{ type: 'scatter', mode: 'lines+markers' },
        x: bins.map((bin) => bin.mean),
        y: bins.map((bin) => bin.share),
        error_y: { ...interval, array: above, arrayminus: below },
        marker: { size: 8, color: colours.approved },
        line: { color: colours.approved, width: 1.5 },
        customdata: bins.map((bin) => [labels(bin), bin.low.toFixed(2), bin.high.toFixed(2)]),
        hovertemplate: `P(YES) %{x:.2f}<br>${words}<br>%{customdata[0]}<extra></extra>`,
      },
    ],
    layout: {
      ...{ ...frame(colours), height: 300, margin: { l: 52, r: 14, t: 8, b: 42 } },
      xaxis: { ...share, title: title(t('P(YES), mean of the bin')) },
      yaxis: { ...share, title: title(t('share of YES among the labels')) },
    },
    legend: [
      { name: t('labels, with 95 % intervals'), colour: colours.approved },
      { name: t('calibrated'), line: true },
    ],
  }
}

const KINDS = Object.entries({ yes: 'YES', ask: t('a person decides'), no: 'NO' })

/** How many cases would be YES, NO, or left to a person. @param {Record<string, number>} counts */
export function verdictBar(counts) {
  const all = counts.yes + counts.no + counts.ask
  if (!all) return h('p.none', t('Undefined: there is no case.'))
  const present = KINDS.filter(([kind]) => counts[kind])
  const parts = present.map(([kind]) => h(`i.${kind}`, { style: `flex-grow: ${counts[kind] / all}` }))
  const percent = (kind) => `${number((100 * counts[kind]) / all, 0)}\u202f%`
  const entries = KINDS.map(([kind, words]) =>
    h('li', h(`i.${kind}`), h('strong', number(counts[kind])), ` ${words} (${percent(kind)})`),
  )
  return h('div.verdicts', h('div.split', { 'aria-hidden': 'true' }, parts), h('ul', entries))
}
