// What a coordinator checks before a session opens: fingerprints of the sources, their pictures, and what preceded.

import { h } from '../common/dom.js'

const EASY_TO_TELL = 0.75 // an AUC from which the sentence stands out

/** How well a program tells the sources apart, the features that it reads, and what was done for the pictures. */
export function fingerprintWords({ sentence, traces, medians, features, layout, wording, both, pictures }) {
  const sources = Object.keys(traces)
  const row = (name, cells) => h('tr', {}, h('th', { scope: 'row' }, name), cells)
  const rows = Object.entries(features).map(([feature, words]) =>
    row(
      words,
      sources.map((source) => h('td.n', {}, plain(medians[source][feature]))),
    ),
  )
  const aucs = [
    ['length, steps and pictures alone', layout],
    ['wording alone', wording],
    ['all of these', both],
  ]
  return [
    h(`p.note${both.auc >= EASY_TO_TELL ? '.look' : ''}`, {}, sentence),
    h(
      'details',
      {},
      h('summary', {}, 'What tells the sources apart'),
      h(
        'ul',
        {},
        aucs.map(([words, one]) => h('li', {}, `AUC from ${words}: ${aucWords(one)}`)),
      ),
      h(
        'div.scroll',
        {},
        h(
          'table',
          {},
          h(
            'tr',
            {},
            h('th', {}, 'median of'),
            sources.map((source) => h('th', { scope: 'col' }, source)),
          ),
          row(
            'traces (number)',
            sources.map((source) => h('td.n', {}, String(traces[source]))),
          ),
          rows,
        ),
      ),
    ),
    pictureWords(pictures),
  ]
}

const plain = (number) => (number >= 100 ? number.toFixed(0) : String(Number(number.toPrecision(3))))

function aucWords({ auc, low, high, reason }) {
  if (auc === null) return `not known: ${reason}`
  return low === null ? auc.toFixed(2) : `${auc.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`
}

/** How many pictures of each source are drawn anew, and how many may still show a title. */
function pictureWords(pictures) {
  const states = Object.entries(pictures).map(([source, counts]) => {
    const words = Object.entries(counts).map(([state, number]) => `${number} ${state}`)
    return `${source}: ${words.join(', ') || 'none'}`
  })
  const unchanged = Object.values(pictures).some((counts) => counts.unchanged)
  return h(
    `p.note${unchanged ? '.look' : ''}`,
    {},
    `Pictures. ${states.join('; ')}.`,
    unchanged && ' A picture that is shown unchanged may have a title that reveals its source.',
  )
}

/** Sessions of the same sources that were not opened, and earlier sessions that showed some of the same items. */
export function historyWords({ unopened, earlier }) {
  const one = unopened.length === 1
  const seeds = unopened.map(({ session, seed }) => `session ${session} (seed ${seed})`).join(', ')
  return [
    unopened.length > 0 &&
      h(
        'p.note.look',
        {},
        `${unopened.length} ${one ? 'session' : 'sessions'} of the same sources and classes ` +
          `${one ? 'was' : 'were'} created and not opened: ${seeds}.`,
      ),
    earlier.map(({ session, items, scorers }) =>
      h('p.note', {}, `Session ${session} showed ${items} of these traces; ${bothWords(scorers)}.`),
    ),
  ]
}

function bothWords(scorers) {
  if (!scorers.length) return 'nobody scores in both'
  return `${scorers.join(', ')} ${scorers.length === 1 ? 'scores' : 'score'} in both`
}
