// What a coordinator checks before a session opens: fingerprints of the sources, their pictures, and what preceded.

import { h } from '../common/dom.js'
import { t, tn, word, sentences } from '../common/language.js'

const EASY_TO_TELL = 0.75 // an AUC from which the sentence stands out

/** How well a program tells the sources apart, the features that it reads, and what was done for the pictures. */
export function fingerprintWords({ sentence, traces, medians, features, layout, wording, both, pictures }) {
  const sources = Object.keys(traces)
  const row = (name, valueOf) =>
    h('tr', h('th', { scope: 'row' }, name), ...sources.map((source) => h('td.n', valueOf(source))))
  const rows = Object.entries(features).map(([feature, words]) =>
    row(words, (source) => plain(medians[source][feature])),
  )
  const heads = sources.map((source) => h('th', { scope: 'col' }, source))
  const aucs = [
    t('AUC from length, steps and pictures alone: {auc}', { auc: aucWords(layout) }),
    t('AUC from wording alone: {auc}', { auc: aucWords(wording) }),
    t('AUC from all of these: {auc}', { auc: aucWords(both) }),
  ]
  const number = row(t('traces (number)'), (source) => String(traces[source]))
  return [
    h(`p.note${both.auc >= EASY_TO_TELL ? '.look' : ''}`, sentence),
    h(
      'details',
      h('summary', t('What tells the sources apart')),
      h('ul', ...aucs.map((words) => h('li', words))),
      h('div.scroll', h('table', h('tr', h('th', t('median of')), heads), number, rows)),
    ),
    pictureWords(pictures),
  ]
}

const plain = (number) => (number >= 100 ? number.toFixed(0) : String(Number(number.toPrecision(3))))

function aucWords({ auc, low, high, reason }) {
  if (auc === null) return t('not known: {reason}', { reason })
  return low === null
    ? auc.toFixed(2)
    : t('{auc} ({low} to {high})', { auc: auc.toFixed(2), low: low.toFixed(2), high: high.toFixed(2) })
}

/** How many pictures of each source are drawn anew, and how many may still show a title. */
function pictureWords(pictures) {
  const states = Object.entries(pictures).map(([source, counts]) => {
    const words = Object.entries(counts).map(([state, number]) => `${number} ${word(state)}`)
    return `${source}: ${words.join(', ') || t('none')}`
  })
  const unchanged = Object.values(pictures).some((counts) => counts.unchanged)
  const words = sentences(
    t('Pictures. {states}.', { states: states.join('; ') }),
    unchanged && t('A picture that is shown unchanged may have a title that reveals its source.'),
  )
  return h(`p.note${unchanged ? '.look' : ''}`, words)
}

/** Sessions of the same sources that were not opened, and earlier sessions that showed some of the same items. */
export function historyWords({ unopened, earlier }) {
  const seeds = unopened.map(({ session, seed }) => t('session {session} (seed {seed})', { session, seed })).join(', ')
  const created = tn(
    '{n} session of the same sources and classes was created and not opened: {seeds}.',
    '{n} sessions of the same sources and classes were created and not opened: {seeds}.',
    unopened.length,
    { seeds },
  )
  const inBoth = ({ session, items, scorers }) =>
    scorers.length
      ? tn(
          'Session {session} showed {items} of these traces; {scorers} scores in both.',
          'Session {session} showed {items} of these traces; {scorers} score in both.',
          scorers.length,
          { session, items, scorers: scorers.join(', ') },
        )
      : t('Session {session} showed {items} of these traces; nobody scores in both.', { session, items })
  return [unopened.length > 0 && h('p.note.look', created), earlier.map((past) => h('p.note', inBoth(past)))]
}
