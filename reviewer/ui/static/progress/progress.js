// The Progress tab: its numbers are fetched whenever the tab becomes visible, and drawn with plotly.js.

import { t, withCommas, word } from '../common/language.js'
import { fill, h } from '../common/dom.js'
import { number, redshift, timeWithSeconds } from '../common/format.js'
import { getJSON } from '../common/http.js'
import { onTheme } from '../common/theme.js'
import { assigned, assignedMeaning } from './assigned.js'
import { mayReadLog, openAuditLog } from './audit_log.js'
import { Chart } from './chart_card.js'
import { byPerson, byTask, decidedPerDay, perDay } from './charts.js'
import { mineElements } from './mine.js'
import { Card, defined, estimate, options, queueLink, table } from './tables.js'

const TASKS_MEANING = t(
  'Every item is in exactly one state. Open states are rounds still to be done; the others are ' + 'final.',
)
const PEOPLE_MEANING = t(
  'Decisions in force by who made them and in which round. A decision that was undone is left ' +
    'out; one on an earlier version is counted. Versions are texts this person wrote.',
)
const DAYS_MEANING = t('Decisions in force by the UTC day on which they were made.')
const DECIDED_MEANING = t(
  'Items by the UTC day on which they were decided. The line is the yield until then: approved ' +
    '/ (approved + rejected).',
)

/** Put the tab's content into `root`. */
export function mountProgress(root) {
  if (!root || root.dataset.mounted) return
  root.dataset.mounted = 'yes'
  const page = new ProgressPage(root)
  // The tab intersects when it is opened, and each time it is shown again.
  new IntersectionObserver((entries) => entries.some((e) => e.isIntersecting) && page.refresh()).observe(root)
  onTheme(() => page.draw())
}

class ProgressPage {
  constructor(root) {
    this.figures = null
    this.lastRequest = 0
    this.task = h('select', { 'aria-label': t('Task'), onchange: () => this.refresh() })
    this.batch = h('select', { 'aria-label': t('Batch'), onchange: () => this.refresh() })
    this.log = h('button', { hidden: true, onclick: openAuditLog }, t('Audit log …'))
    getJSON('/api/v1/me').then(
      (me) => (this.log.hidden = !mayReadLog(me)),
      () => {},
    )
    this.asof = h('span.asof', { role: 'status' })
    this.mine = h('div.mine')
    this.tiles = h('dl.tiles')
    this.empty = h('div.empty', { hidden: true })
    this.charts = [
      new Chart(t('Items by task and state'), TASKS_MEANING, byTask),
      new Chart(t('Decisions by reviewer'), PEOPLE_MEANING, byPerson),
      new Chart(t('Decisions per day'), DAYS_MEANING, perDay),
      new Chart(t('Approved and rejected per day'), DECIDED_MEANING, decidedPerDay),
    ]
    this.time = new Card(t('Time per item'))
    this.assigned = new Card(t('Assigned'), assignedMeaning())
    this.agreement = new AgreementCards()
    const cards = [...this.charts, ...this.agreement.cards, this.time, this.assigned]
    this.grid = h(
      'div.charts',
      cards.map((card) => card.root),
    )
    // Below the charts, so it can load after them.
    this.trustPlace = h('div')
    /** @type {import('./trust.js').TrustSection | null} */
    this.trust = null
    const bar = h(
      'div.bar',
      h('label', t('Task'), this.task),
      h('label', t('Batch'), this.batch),
      h('button', { onclick: () => this.refresh() }, t('Refresh')),
      this.log,
      this.asof,
    )
    fill(root, bar, this.mine, this.tiles, this.empty, this.grid, this.trustPlace)
    this.#choices({}, [])
  }

  /** The filter, as the server and the queue have it. @returns {Record<string, string>} */
  get #filter() {
    return {
      ...(this.task.value && { task: this.task.value }),
      ...(this.batch.value !== '*' && { batch: this.batch.value }),
    }
  }

  /** Fetch and draw. Of two requests in progress the later one counts, whichever is answered first. */
  async refresh() {
    const request = ++this.lastRequest
    const query = new URLSearchParams(this.#filter)
    try {
      const figures = await getJSON(`/api/v1/progress?${query}`)
      if (request !== this.lastRequest) return
      this.figures = figures
      this.#choices(figures.tasks, figures.batches)
      this.asof.classList.remove('late')
      this.asof.textContent = t('as of {toLocaleTimeString}', { toLocaleTimeString: timeWithSeconds(figures.at) })
      this.draw()
      await this.#refreshAgreement(query, request)
      if (request === this.lastRequest) await this.#refreshTrust()
    } catch (error) {
      if (request !== this.lastRequest) return
      this.asof.classList.add('late')
      this.asof.textContent = t('Not refreshed: {message}', { message: error.message })
    }
  }

  /** Fetch the agreement. Its intervals can take seconds; the charts do not wait for them. */
  async #refreshAgreement(query, request) {
    try {
      const figures = await getJSON(`/api/v1/progress/agreement?${query}`)
      if (request === this.lastRequest) this.agreement.show(figures)
    } catch (error) {
      if (request === this.lastRequest) this.agreement.say(error.message)
    }
  }

  /** Load the Trust section after everything else; it fetches its numbers when it comes into view. */
  async #refreshTrust() {
    if (this.trust) {
      this.trust.expire()
      return
    }
    const { TrustSection } = await import('./trust.js')
    this.trust = new TrustSection()
    fill(this.trustPlace, this.trust.root)
  }

  draw() {
    this.trust?.draw()
    const { figures } = this
    if (!figures) return
    const items = total(figures.by_task)
    this.mine.hidden = this.grid.hidden = this.tiles.hidden = items === 0
    this.empty.hidden = items > 0
    if (items === 0) {
      fill(this.empty, emptyWords(Object.keys(this.#filter).length > 0))
      return
    }
    fill(this.mine, mineElements(figures, this.#filter))
    fill(this.tiles, tiles(figures, items))
    for (const chart of this.charts) chart.draw(figures)
    this.time.name(t('Time per item'), figures.time_meaning)
    this.time.show(times(figures.time_by_person))
    this.assigned.show(assigned(figures.assigned))
  }

  #choices(tasks, batches) {
    options(this.task, [['', t('all tasks')], ...Object.entries(tasks)], this.task.value)
    const names = batches.map((name) => [name, name || t('without a name')])
    options(this.batch, [['*', t('all batches')], ...names], this.batch.value)
  }
}

/** @param {ProgressFigures} figures @param {number} items */
function tiles({ yielded, disagreement }, items) {
  const judged = yielded.approved + yielded.rejected
  const decided = judged + yielded.cannot_tell
  /** @type {any[][]} */
  const rows = [
    [t('Items'), t('Everything in the filter: one spectrum with one drafted trajectory is one item.'), number(items)],
    [t('Still open'), t('Items that are not decided yet.'), number(items - decided)],
    [t('Approved'), t('Items approved by vote or adjudication. An export contains these.'), number(yielded.approved)],
    [t('Rejected'), t('Items rejected in any round.'), number(yielded.rejected)],
    [
      t('Cannot tell'),
      t(
        'Items of which people decided that nobody can tell from these data. No export for training ' +
          'contains them.',
      ),
      number(yielded.cannot_tell),
    ],
    [
      t('Yield'),
      t('Approved / (approved + rejected). Open items and “cannot tell” are not counted.'),
      ...share(yielded.fraction, yielded.approved, judged, t('no item is approved or rejected yet')),
    ],
    [
      t('Disagreement'),
      t(
        'Of the items on whose current version two or more people decided in one round of audit or ' +
          'vote: those on which they disagreed (pass or approve against return or reject).',
      ),
      ...share(
        disagreement.fraction,
        disagreement.disagreed,
        disagreement.compared,
        t('no item was judged by two people yet'),
      ),
    ],
  ]
  return rows.map(([name, meaning, value, of]) =>
    h(
      'div.tile',
      h('dt', defined(name, meaning)),
      h(of === null ? 'dd.undefined' : 'dd', value, of && [' ', h('span.of', of)]),
    ),
  )
}

/** @returns {[string, string | null]} */
function share(fraction, part, whole, why) {
  if (fraction === null) return [t('undefined: {reason}', { reason: why }), null]
  const counts = t('{part} of {whole}', { part: number(part), whole: number(whole) })
  return [`${number(100 * fraction, whole >= 1000 ? 1 : 0)}\u202f%`, counts]
}

const total = (/** @type {Record<string, Record<string, number>>} */ counts) =>
  Object.values(counts)
    .flatMap((states) => Object.values(states))
    .reduce((sum, n) => sum + n, 0)

/**
 * The median active seconds of each person, in each round.
 * @param {Record<string, Record<string, TimeSpent>>} people
 */
function times(people) {
  const rows = Object.entries(people).flatMap(([person, rounds]) =>
    Object.entries(rounds).map(([round, { decisions, median_seconds: seconds }]) => [
      person,
      word(round),
      h('strong', t('{seconds} s', { seconds: number(seconds, seconds < 10 ? 1 : 0) })),
      number(decisions),
    ]),
  )
  if (!rows.length) return t('Undefined: no decision has a measured time.')
  return table([t('Reviewer'), t('Round'), t('Median'), t('Decisions')], null, rows)
}

/** @param {boolean} filtered */
const emptyWords = (filtered) => [
  h('h3', filtered ? t('No item matches this filter') : t('Nothing to review yet')),
  h(
    'p',
    filtered
      ? t('Choose all tasks and all batches to see the whole campaign.')
      : t('Open the Data tab to add spectra or to import trajectories. The charts appear with the first item.'),
  ),
]

const ROUNDS_MEANING = t(
  'Audits and votes on the same version by two or more people, in closed rounds. Decisions of ' +
    'open rounds are not counted.',
)
const APART_MEANING = t(
  'Items on whose current version two people disagreed in one closed round of audit or vote ' +
    '(pass or approve against return or reject).',
)

const CONFLICTS_MEANING = t(
  'Items of which two or more people gave inspections that differ by the rules of DESI: ' +
    'quality by 2 or more, (z_max − z_min) / (1 + z_min) of 0.0033 or more, or the class. ' +
    'Inspections of open rounds are not counted.',
)

/** The four cards about agreement. `show` draws the server's numbers, `say` a sentence instead. */
class AgreementCards {
  constructor() {
    this.rounds = new Card(t('Agreement of reviewers'), ROUNDS_MEANING)
    this.apart = new Card(t('Disagreements'), APART_MEANING)
    this.conflicts = new Card(t('Inspections that differ'), CONFLICTS_MEANING)
    this.gold = new Card(t('Reviewers on gold'))
    this.cards = [this.rounds, this.apart, this.conflicts, this.gold]
    this.say(t('Calculating …'))
  }

  /** @param {string} message */
  say(message) {
    for (const card of this.cards) card.show(message)
  }

  /** @param {Agreement} figures */
  show({ rounds, disagreements, conflicts, gold, ...figures }) {
    this.rounds.show(
      rounds.some(({ raw }) => raw.n)
        ? roundTable(rounds, figures.rounds_of_last)
        : t('No decision can be compared yet.'),
    )
    this.apart.show(disagreements.total ? differing(disagreements) : t('People disagree on no item so far.'))
    this.conflicts.show(
      conflicts.total ? conflicting(conflicts) : t('No two people have given inspections that differ.'),
    )
    this.gold.name(t('Reviewers on gold'), figures.gold_meaning)
    this.gold.show(
      gold.length
        ? goldTable(gold)
        : t('Undefined: nobody has committed a verdict on an item that has a known label and is decided.'),
    )
  }
}

/** @param {Agreement['rounds']} rounds @param {number | null} last */
const roundTable = (rounds, last) => [
  table(
    [t('Round'), t('Task'), t('Raw agreement'), t('Alpha')],
    ['', '', rounds[0].raw.definition, rounds[0].alpha.definition],
    rounds.map((row) => [word(row.round), row.title, estimate(row.raw), estimate(row.alpha, 'number')]),
  ),
  last && h('p.more', t('Of the last {n} decisions of all rounds.', { n: number(last) })),
]

/** @param {Agreement['gold']} gold */
const goldTable = (gold) =>
  table(
    [t('Reviewer'), t('Agrees with the label'), t('“Cannot tell”')],
    ['', gold[0].right.definition, t('Verdicts “cannot tell from these data”, which count in no other number here.')],
    gold.map((row) => [row.person, estimate(row.right), number(row.cannot_tell)]),
  )

/** @param {Agreement['disagreements']} apart */
function differing({ total: count, items }) {
  const rounds = (decisions) =>
    Object.entries(decisions).map(([round, verbs]) => {
      const counts = Object.entries(verbs).map(([verb, n]) => `${n} ${word(verb)}`)
      return `${word(round)}: ${withCommas(counts)}`
    })
  return [
    h('p.more', latest(count, items), queueLink(t('Show them in the queue'), { disagreement: 'true' })),
    itemTable([t('State'), t('Decisions')], items, (item) => [word(item.state), rounds(item.decisions).join('; ')]),
  ]
}

/** @param {InspectionConflicts} conflicts */
function conflicting({ total: count, items, of_last: last }) {
  /** @param {InspectionResult} inspection */
  const inWords = ({ person, z, quality, type }) =>
    [person, z !== null && `z ${redshift(z)}`, quality !== null && t('quality {quality}', { quality }), type]
      .filter(Boolean)
      .join(' ')
  return [
    h('p.more', latest(count, items), last && t('Of the last {n} inspections.', { n: number(last) })),
    itemTable([t('What differs'), t('Inspections')], items, (item) => [
      withCommas(item.conflict.map(word)),
      item.inspections.map(inWords).join('; '),
    ]),
  ]
}

/** @param {number} count @param {unknown[]} items */
const latest = (count, items) =>
  count > items.length && t('The latest {n} of {count}. ', { n: number(items.length), count: number(count) })

/** Items, each with a link, its task and further cells. */
const itemTable = (heads, items, cellsOf) =>
  table(
    [t('Item'), t('Task'), ...heads],
    null,
    items.map((item) => [
      h('a', { href: `#item=${item.id}`, title: item.name }, item.name),
      item.title,
      ...cellsOf(item),
    ]),
  )
