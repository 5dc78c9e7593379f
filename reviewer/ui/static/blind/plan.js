// The plan that the form of a new session holds, as the server reads it.

/** A field that cannot be read; the message is shown to the person. */
import { t } from '../common/language.js'

class Unreadable extends Error {
  forPerson = true
}

/** @param {FormData} data */
export function planOf(data) {
  const text = (name) => String(data.get(name) ?? '').trim()
  const numeric = (/** @type {string} */ name) => (text(name) === '' ? undefined : Number(text(name)))
  const flag = (name) => (text(name) === '' ? undefined : text(name) === 'true')
  const some = (name) => (text(name) === '' ? undefined : text(name))
  const filter = {
    states: some('state') && [text('state')],
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
    analysis: analysisOf(data),
  }
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
  return Object.keys(given).length ? { ...plan, filter: given } : plan
}

/** @param {FormData} data */
function analysisOf(data) {
  const text = (name) => String(data.get(name) ?? '').trim()
  const given = {
    dimension: text('dimension'),
    first: text('first'),
    second: text('second'),
    margin: text('margin') && Number(text('margin')),
    gold_within: text('gold_within') && Number(text('gold_within')),
    repeats_within_1: text('repeats_within_1') && Number(text('repeats_within_1')),
    without_revealing: data.has('without_revealing') || '',
    stopping: text('stopping'),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
}

function itemsOf(text, where) {
  return text
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map((word) => whole(word.replace(/^#/, ''), where, word))
}

/** Read gold items, one per line: "17 5 4", "23 - 0 2". */
function goldOf(text) {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => {
      const words = line.split(/[\s,;]+/)
      if (words.length < 2 || words.length > 4)
        throw new Unreadable(
          t(
            'Gold items: found “{line}”, expected an item, coherence, physical consistency and a ' +
              'tolerance, e.g. 17 5 4 1.',
            { line },
          ),
        )
      const [item, coherence, consistency = null, tolerance = 1] = words.map((word, at) =>
        word === '-' && at > 0 ? null : whole(word.replace(/^#/, ''), t('Gold items'), line),
      )
      return { item, coherence, consistency, tolerance }
    })
}

function whole(word, where, value) {
  if (!/^\d+$/.test(word))
    throw new Unreadable(t('{where}: found “{found}”, expected whole numbers.', { where, found: value }))
  return Number(word)
}
