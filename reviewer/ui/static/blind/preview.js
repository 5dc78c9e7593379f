// The preview of a sample in words and tables.

import { h } from '../common/dom.js'

/** What would be sampled, by the server's answer to a preview. */
export function previewWords({ scores, pairs, gold, training, scorers, notes, spectra, strata, shared }, tasks) {
  const rows = (kind, table) =>
    table.map((one) =>
      h(
        'tr',
        {},
        h('td', {}, kind),
        h('td', {}, one.source),
        h('td', {}, tasks[one.task] ?? one.task),
        h('td.n', {}, String(one.number)),
      ),
    )
  const single = (kind, items) =>
    items > 0 && h('tr', {}, h('td', {}, kind), h('td'), h('td'), h('td.n', {}, String(items)))
  return [
    h('h3', {}, 'Preview of the sample'),
    h(
      'p',
      {},
      `${spectra} spectra: `,
      strata
        .map(({ stratum: [task, ...rest], spectra: n }) => `${[tasks[task] ?? task, ...rest].join(', ')} ${n}`)
        .join('; '),
      '.',
      shared && ` Every two scorers share ${[...new Set([shared.least, shared.most])].join(' to ')} spectra.`,
    ),
    h(
      'table',
      {},
      h('tbody', {}, rows('scored', scores), rows('pairs', pairs), single('gold', gold), single('training', training)),
    ),
    h(
      'p',
      {},
      scorers.map((one, at) => [at > 0 && ' · ', h('strong', {}, one.initials), `: ${one.asked} questions`]),
    ),
    notes.map((note) => h('p.note', {}, note)),
    scorers.some((one) => one.barred) &&
      h(
        'p.muted',
        {},
        scorers
          .filter((one) => one.barred)
          .map((one) => `${one.initials} worked on ${one.barred}`)
          .join(', '),
        ': they do not score these.',
      ),
  ]
}
