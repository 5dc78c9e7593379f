// The preview of a sample in words and tables.

import { h } from '../common/dom.js'
import { t, tn, withParts, sentences } from '../common/language.js'

const VERSIONS = {
  drafted: t('texts as drafted'),
  approved: t('texts as approved'),
  both: t('texts as drafted and as approved, two sources'),
}

/** Which version of the texts a session shows. @param {string | null} version null: from before they were told apart */
export const versionWords = (version) =>
  version === null ? t('made before drafted and edited texts were told apart') : VERSIONS[version]

/** What would be sampled, by the server's answer to a preview. */
export function previewWords(previewed, tasks) {
  const { version, scores, pairs, gold, training, scorers, notes, spectra, strata, shared } = previewed
  const row = (kind, source, task, n) => h('tr', h('td', kind), h('td', source), h('td', task), h('td.n', String(n)))
  const rows = (kind, lines) => lines.map((line) => row(kind, line.source, tasks[line.task] ?? line.task, line.number))
  const single = (kind, n) => n > 0 && row(kind, '', '', n)
  const sampled = strata.map(
    ({ stratum: [task, ...rest], spectra: n }) => `${[tasks[task] ?? task, ...rest].join(', ')} ${n}`,
  )
  const { least: low, most: high } = shared ?? {}
  const most = low === high ? low : t('{low} to {high}', { low, high })
  const questions = ({ initials, questions: n }, at) => [
    at > 0 && ' · ',
    withParts(tn('{person}: {n} question', '{person}: {n} questions', n), { person: h('strong', initials) }),
  ]
  const barred = scorers
    .filter((scorer) => scorer.barred)
    .map(({ initials, barred: items }) => t('{person} worked on {items}', { person: initials, items }))
    .join(', ')
  return [
    h('h3', t('Preview of the sample')),
    h('p', versionWords(version)),
    h(
      'p',
      sentences(
        tn('{n} spectrum: {strata}.', '{n} spectra: {strata}.', spectra, { strata: sampled.join('; ') }),
        shared && t('Every two scorers share {number} spectra.', { number: most }),
      ),
    ),
    h(
      'table',
      h(
        'tbody',
        rows(t('scored'), scores),
        rows(t('pairs'), pairs),
        single(t('gold'), gold),
        single(t('training'), training),
      ),
    ),
    h('p', scorers.map(questions)),
    notes.map((note) => h('p.note', note)),
    barred && h('p.muted', t('{people}: they do not score these.', { people: barred })),
  ]
}
