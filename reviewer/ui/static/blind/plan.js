// The plan that the form of a new session holds, as the server reads it.

import { t } from '../common/language.js'

/** A field that cannot be read; the message is shown to the person. */
class Unreadable extends Error {
  forPerson = true
}

const given = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

/** @param {FormData} data */
export function planOf(data) {
  const text = (name) => String(data.get(name) ?? '').trim()
  const some = (name, as = (value) => value) => (text(name) === '' ? undefined : as(text(name)))
  const numeric = (name) => some(name, Number)
  const flag = (name) => some(name, (value) => value === 'true')
  const filter = {
    states: some('state', (state) => [state]),
    survey: some('survey'),
    batch: some('batch'),
    listed: numeric('listed'),
    snr_min: numeric('snr_min'),
    snr_max: numeric('snr_max'),
    simulated: flag('simulated'),
    disagreement: flag('disagreement'),
  }
  const plan = {
    name: text('name'),
    mode: text('mode'),
    version: text('version'),
    sources: data.getAll('sources'),
    tasks: data.getAll('tasks'),
    scorers: data.getAll('scorers'),
    number: numeric('number'),
    each: numeric('each'),
    repeats: numeric('repeats'),
    seed: numeric('seed'),
    giveaways: text('giveaways'),
    items: itemsOf(text('items'), t('Items')),
    gold: goldOf(text('gold')),
    design: some('design'),
    strata: text('strata').split(' ').filter(Boolean),
    training: itemsOf(text('training'), t('Training items')),
    earlier: some('earlier'),
    analysis: given({
      dimension: some('dimension'),
      first: some('first'),
      second: some('second'),
      margin: numeric('margin'),
      gold_within: numeric('gold_within'),
      repeats_within_1: numeric('repeats_within_1'),
      without_revealing: data.has('without_revealing') || undefined,
      stopping: some('stopping'),
    }),
  }
  const filtered = given(filter)
  return Object.keys(filtered).length ? { ...plan, filter: filtered } : plan
}

const wordsOf = (text) => text.split(/[\s,;]+/).filter(Boolean)

const itemsOf = (text, where) => wordsOf(text).map((word) => whole(word, where, word))

/** Read gold items, one per line: "17 5 4", "23 - 0 2". */
const goldOf = (text) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => {
      const words = wordsOf(line)
      const expected = t(
        'Gold items: found “{line}”, expected an item, coherence, physical consistency and a ' +
          'tolerance, e.g. 17 5 4 1.',
        { line },
      )
      if (words.length < 2 || words.length > 4) throw new Unreadable(expected)
      const [item, coherence, consistency = null, tolerance = 1] = words.map((word, at) =>
        word === '-' && at > 0 ? null : whole(word, t('Gold items'), line),
      )
      return { item, coherence, consistency, tolerance }
    })

function whole(word, where, value) {
  const digits = word.replace(/^#/, '')
  if (!/^\d+$/.test(digits))
    throw new Unreadable(t('{where}: found “{found}”, expected whole numbers.', { where, found: value }))
  return Number(digits)
}
