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
export function previewWords(
  { version, scores, pairs, gold, training, scorers, notes, spectra, strata, shared },
  tasks,
) {
  const rows = (kind, table) =>
    table.map((line) =>
      h(
        'tr',
        h('td', kind),
        h('td', line.source),
        h('td', tasks[line.task] ?? line.task),
        h('td.n', String(line.number)),
      ),
    )
  const single = (kind, items) => items > 0 && h('tr', h('td', kind), h('td'), h('td'), h('td.n', String(items)))
  return [
    h('h3', t('Preview of the sample')),
    h('p', versionWords(version)),
    h(
      'p',
      sentences(
        tn('{n} spectrum: {strata}.', '{n} spectra: {strata}.', spectra, {
          strata: strata
            .map(({ stratum: [task, ...rest], spectra: n }) => `${[tasks[task] ?? task, ...rest].join(', ')} ${n}`)
            .join('; '),
        }),
        shared &&
          t('Every two scorers share {number} spectra.', {
            number:
              shared.least === shared.most
                ? shared.least
                : t('{low} to {high}', { low: shared.least, high: shared.most }),
          }),
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
    h(
      'p',
      ...scorers.map((scorer, at) => [
        at > 0 && ' · ',
        withParts(tn('{person}: {n} question', '{person}: {n} questions', scorer.questions), {
          person: h('strong', scorer.initials),
        }),
      ]),
    ),
    notes.map((note) => h('p.note', note)),
    scorers.some((scorer) => scorer.barred) &&
      h(
        'p.muted',
        t('{people}: they do not score these.', {
          people: scorers
            .filter((scorer) => scorer.barred)
            .map((scorer) => t('{person} worked on {items}', { person: scorer.initials, items: scorer.barred }))
            .join(', '),
        }),
      ),
  ]
}
