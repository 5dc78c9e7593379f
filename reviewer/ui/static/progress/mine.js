// What a person did and what waits for them, and when the campaign will be done: the top of the Progress tab.

import { h } from '../common/dom.js'
import { dateAndTime, number } from '../common/format.js'
import { t, tn, withCommas, word } from '../common/language.js'
import { sum } from './charts.js'
import { queueLink } from './tables.js'

const DAY = 86_400_000 // ms

/** @param {ProgressFigures} figures @param {Record<string, string>} filter of task and batch */
export const mineElements = ({ mine, pace, at }, filter) => [
  part(t('What you did'), didText(mine)),
  part(t('What waits for you'), waitingText(mine.waiting, filter)),
  part(t('When it is done'), paceText(pace, at)),
]

/** @param {string} title @param {import('../common/dom.js').Child[]} texts the main one and the rest */
const part = (title, [main, rest]) => h('section', h('h3', title), h('p.main', main), h('p', rest))

/** @param {OwnWork} mine */
function didText({ today, rounds }) {
  const all = sum(rounds)
  const parts = Object.entries(rounds).map(([round, n]) => `${word(round)}\u00a0${number(n)}`)
  return [
    tn('{n} decision today (UTC)', '{n} decisions today (UTC)', today, { n: number(today) }),
    all ? t('{n} in all: {parts}', { n: number(all), parts: withCommas(parts) }) : t('None before.'),
  ]
}

/** @param {OwnWork['waiting']} waiting @param {Record<string, string>} filter */
function waitingText(waiting, filter) {
  const all = sum(waiting)
  const link = ([state, n]) =>
    queueLink(`${word(state)}\u00a0${number(n)}`, { ...filter, mine: 'true', state }, t('Show them in Review'))
  const links = Object.entries(waiting).map((entry) => [link(entry), ' '])
  return [tn('{n} item', '{n} items', all, { n: number(all) }), all ? links : t('Nothing waits for you.')]
}

/** @param {Pace} pace @param {string} at */
function paceText({ missing, per_day: perDay, days, over }, at) {
  const n = number(missing)
  const assumed = tn(
    '{n} decision is missing, if no open item is returned or rejected.',
    '{n} decisions are missing, if no open item is returned or rejected.',
    missing,
    { n },
  )
  if (!missing) return [t('Everything is decided'), '']
  if (days === null || perDay === null)
    return [t('Not enough decisions yet'), `${t('This needs 10 on two of the last 7 days.')} ${assumed}`]
  const done = dateAndTime(new Date(Date.parse(at) + days * DAY).toISOString()).slice(0, 10)
  const rate = t('{rate} decisions per day in the last {days} days', { rate: number(perDay, 1), days: over })
  return [t('About {day}', { day: done }), `${rate}. ${assumed}`]
}
