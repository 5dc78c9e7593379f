// Below the charts of the Progress tab: how alike people decide, where they differ, how near they are to known labels.

import { fill, h } from '../common/dom.js'
import { number } from '../common/format.js'
import { openTab } from '../common/tabs.js'

const ROUNDS_MEANING =
  'Audits and votes on the same version by two or more people, in rounds that are over. Of a round that is still open nothing is counted.'
const APART_MEANING =
  'Items on whose current version two people pulled in different directions in one round of audit or vote that is over (pass or approve against return or reject).'

/** The three cards. `show` draws what the server gave, `fail` says why there is nothing. */
export class AgreementCards {
  constructor() {
    this.rounds = h('div.words')
    this.apart = h('div.words')
    this.gold = h('div.words')
    this.goldTitle = h('span')
    this.cards = [
      card(defined('Agreement of reviewers', ROUNDS_MEANING), this.rounds),
      card(defined('Where people differ', APART_MEANING), this.apart),
      card(this.goldTitle, this.gold),
    ]
    fill(this.goldTitle, 'Reviewers on gold')
    this.wait()
  }

  wait() {
    for (const part of [this.rounds, this.apart, this.gold])
      if (!part.childElementCount) fill(part, h('p.none', {}, 'Being calculated …'))
  }

  fail(message) {
    for (const part of [this.rounds, this.apart, this.gold]) fill(part, h('p.none', {}, message))
  }

  show(figures) {
    fill(
      this.rounds,
      table(
        ['Round', 'Task', 'Raw agreement', 'Alpha'],
        [2, 3],
        figures.rounds[0] && ['', '', figures.rounds[0].raw.definition, figures.rounds[0].alpha.definition],
        figures.rounds.map((row) => [row.round, row.title, estimate(row.raw, 'percent'), estimate(row.alpha)]),
      ),
    )
    fill(
      this.apart,
      figures.disagreements.total
        ? differing(figures.disagreements)
        : h('p.none', {}, 'People differ on no item so far.'),
    )
    fill(this.goldTitle, defined('Reviewers on gold', figures.gold_meaning))
    fill(
      this.gold,
      figures.gold.length
        ? table(
            ['Reviewer', 'As the label says', '“Cannot tell”'],
            [1],
            [
              '',
              figures.gold[0].right.definition,
              'Verdicts “cannot tell from these data”; they are in no other number here.',
            ],
            figures.gold.map((row) => [row.person, estimate(row.right, 'percent'), number(row.cannot_tell)]),
          )
        : h(
            'p.none',
            {},
            'Undefined: nobody has committed a verdict on an item with a known label that is decided by now.',
          ),
    )
  }
}

/** A word with its definition one hover or one Tab key away. */
export const defined = (text, meaning) =>
  h('span.defined', { tabIndex: 0 }, text, h('span.meaning', { role: 'tooltip' }, meaning))

const card = (title, content) =>
  h('section.chart.agreement', {}, h('header', {}, h('h3', {}, title)), h('div.scroll', {}, content))

function differing({ total, items }) {
  const more = total > items.length ? `The latest ${number(items.length)} of ${number(total)}. ` : ''
  return [
    h('p.more', {}, more, h('button.link', { type: 'button', onClick: showQueue }, 'Show them in the queue')),
    table(
      ['Item', 'Task', 'State', 'Said'],
      [],
      null,
      items.map((item) => [
        h('a', { href: `#item=${item.id}`, title: item.name, onClick: () => openTab('Review') }, item.name),
        item.title,
        item.state,
        Object.entries(item.said)
          .map(
            ([round, verbs]) =>
              `${round}: ${Object.entries(verbs)
                .map(([verb, n]) => `${n} ${verb}`)
                .join(', ')}`,
          )
          .join('; '),
      ]),
    ),
  ]
}

function showQueue() {
  openTab('Review')
  window.specO3?.review?.queue.use({ disagreement: 'true' })
}

/** 87 % with its interval beneath, or in words why there is none. */
function estimate(one, as) {
  if (one.value === null) return h('span.why', {}, `undefined: ${one.reason}`)
  const say = (value) => (as === 'percent' ? number(100 * value, 0) : value.toFixed(2).replace('-', '−'))
  const unit = as === 'percent' ? '\u202f%' : ''
  const between = one.low === null ? `no interval: ${one.reason}` : `${say(one.low)} to ${say(one.high)}${unit}`
  return [h('strong', {}, `${say(one.value)}${unit}`), h('span.why', {}, `${between}; n = ${number(one.n)}`)]
}

function table(heads, numeric, meanings, rows) {
  return h(
    'table',
    {},
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        heads.map((head, i) => h('th', { scope: 'col' }, meanings?.[i] ? defined(head, meanings[i]) : head)),
      ),
    ),
    h(
      'tbody',
      {},
      rows.map((row) =>
        h(
          'tr',
          {},
          row.map((cell, i) => h(numeric.includes(i) ? 'td.estimate' : 'td', {}, cell)),
        ),
      ),
    ),
  )
}
