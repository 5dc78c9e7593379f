// The Progress tab: its numbers are fetched whenever the tab becomes visible, and drawn with plotly.js.

import { t, word } from '../common/language.js'
import { fill, h } from '../common/dom.js'
import { number, redshift } from '../common/format.js'
import { getJSON } from '../common/http.js'
import { openTab } from '../common/tabs.js'
import { assigned, assignedMeaning, assignedTitle } from './assigned.js'
import { mayReadLog, openAuditLog } from './audit_log.js'
import { Chart } from './chart_card.js'
import { byPerson, byTask, decidedPerDay, perDay } from './charts.js'
import { card, defined, table } from './tables.js'

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
  new MutationObserver(() => page.draw()).observe(document.documentElement, {
    attributeFilter: ['data-theme', 'class'],
  })
}

class ProgressPage {
  constructor(root) {
    this.figures = null
    this.lastRequest = 0
    this.task = h('select', { 'aria-label': t('Task'), onchange: () => this.refresh() })
    this.batch = h('select', { 'aria-label': t('Batch'), onchange: () => this.refresh() })
    this.log = h('button', { type: 'button', hidden: true, onclick: openAuditLog }, t('Audit log …'))
    getJSON('/api/v1/me').then(
      (me) => (this.log.hidden = !mayReadLog(me)),
      () => {},
    )
    this.asof = h('span.asof', { role: 'status' })
    this.tiles = h('dl.tiles')
    this.empty = h('div.empty', { hidden: true })
    this.charts = [
      new Chart(t('Items by task and state'), TASKS_MEANING, byTask),
      new Chart(t('Decisions by reviewer'), PEOPLE_MEANING, byPerson),
      new Chart(t('Decisions per day'), DAYS_MEANING, perDay),
      new Chart(t('Approved and rejected per day'), DECIDED_MEANING, decidedPerDay),
    ]
    this.time = h('div.words')
    this.timeTitle = h('span', {}, t('Time per item'))
    this.assigned = h('div.words')
    this.agreement = new AgreementCards()
    this.grid = h(
      'div.charts',
      {},
      this.charts.map((chart) => chart.card),
      this.agreement.cards,
      card(this.timeTitle, this.time),
      card(defined(assignedTitle(), assignedMeaning()), this.assigned),
    )
    // Below the charts, so it can load after them.
    this.trustPlace = h('div')
    /** @type {import('./trust.js').TrustSection | null} */
    this.trust = null
    fill(
      root,
      h(
        'div.bar',
        {},
        h('label', {}, t('Task'), this.task),
        h('label', {}, t('Batch'), this.batch),
        h('button', { type: 'button', onclick: () => this.refresh() }, t('Refresh')),
        this.log,
        this.asof,
      ),
      this.tiles,
      this.empty,
      this.grid,
      this.trustPlace,
    )
    this.#options({}, [])
  }

  /** Fetch and draw. Of two requests in progress the later one counts, whichever is answered first. */
  async refresh() {
    const request = ++this.lastRequest
    const query = new URLSearchParams()
    if (this.task.value) query.set('task', this.task.value)
    if (this.batch.value !== '*') query.set('batch', this.batch.value)
    try {
      const figures = await getJSON(`/api/v1/progress?${query}`)
      if (request !== this.lastRequest) return
      this.figures = figures
      this.#options(figures.tasks, figures.batches)
      this.asof.classList.remove('late')
      this.asof.textContent = t('as of {toLocaleTimeString}', {
        toLocaleTimeString: new Date(figures.at).toLocaleTimeString('en-GB'),
      })
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
    this.agreement.wait()
    try {
      const figures = await getJSON(`/api/v1/progress/agreement?${query}`)
      if (request === this.lastRequest) this.agreement.show(figures)
    } catch (error) {
      if (request === this.lastRequest) this.agreement.fail(error.message)
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
    if (!this.figures) return
    const items = total(this.figures.by_task)
    fill(this.tiles, tiles(this.figures, items))
    this.grid.hidden = this.tiles.hidden = items === 0
    this.empty.hidden = items > 0
    if (items > 0) {
      for (const chart of this.charts) chart.draw(this.figures)
      fill(this.timeTitle, defined(t('Time per item'), this.figures.time_meaning))
      fill(this.time, times(this.figures.time_by_person))
      fill(this.assigned, assigned(this.figures.assigned))
    } else fill(this.empty, emptyWords(this.task.value || this.batch.value !== '*'))
  }

  #options(tasks, batches) {
    const [task, batch] = [this.task.value, this.batch.value]
    fill(
      this.task,
      h('option', { value: '' }, t('all tasks')),
      Object.entries(tasks).map(([key, title]) => h('option', { value: key }, title)),
    )
    fill(
      this.batch,
      h('option', { value: '*' }, t('all batches')),
      batches.map((name) => h('option', { value: name }, name || t('without a name'))),
    )
    this.task.value = task in tasks ? task : ''
    this.batch.value = batches.includes(batch) ? batch : '*'
  }
}

function tiles(figures, items) {
  const { yielded, disagreement } = figures
  const judged = yielded.approved + yielded.rejected
  const decided = judged + yielded.cannot_tell
  return [
    tile(
      t('Items'),
      t('Everything in the filter: one spectrum with one drafted trajectory is one item.'),
      number(items),
    ),
    tile(t('Still open'), t('Items that are not decided yet.'), number(items - decided)),
    tile(
      t('Approved'),
      t('Items approved by vote or adjudication. An export contains these.'),
      number(yielded.approved),
    ),
    tile(t('Rejected'), t('Items rejected in any round.'), number(yielded.rejected)),
    tile(
      t('Cannot tell'),
      t(
        'Items of which people decided that nobody can tell from these data. No export for training ' +
          'contains them.',
      ),
      number(yielded.cannot_tell),
    ),
    tile(
      t('Yield'),
      t('Approved / (approved + rejected). Open items and “cannot tell” are not counted.'),
      ...share(yielded.fraction, yielded.approved, judged, t('no item is approved or rejected yet')),
    ),
    tile(
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
    ),
  ]
}

function tile(name, meaning, value, of = '', isUndefined = false) {
  return h(
    'div.tile',
    {},
    h('dt', {}, defined(name, meaning)),
    h(
      isUndefined ? 'dd.undefined' : 'dd',
      { title: isUndefined ? value : '' },
      isUndefined ? value : [value, of && [' ', h('span.of', {}, of)]],
    ),
  )
}

function share(fraction, part, whole, why) {
  if (fraction === null) return [t('undefined: {reason}', { reason: why }), '', true]
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
      h('strong', {}, t('{seconds} s', { seconds: number(seconds, seconds < 10 ? 1 : 0) })),
      number(decisions),
    ]),
  )
  if (!rows.length) return h('p.none', {}, t('Undefined: no decision has a measured time.'))
  return table([t('Reviewer'), t('Round'), t('Median'), t('Decisions')], [2, 3], null, rows)
}

function emptyWords(filtered) {
  if (filtered)
    return [
      h('h3', {}, t('No item matches this filter')),
      h('p', {}, t('Choose all tasks and all batches to see the whole campaign.')),
    ]
  return [
    h('h3', {}, t('Nothing to review yet')),
    h(
      'p',
      {},
      t('Open the Data tab to add spectra or to import trajectories. The charts ' + 'appear with the first item.'),
    ),
  ]
}

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

/** The four cards about agreement. `show` draws the server's numbers, `fail` shows an error. */
export class AgreementCards {
  constructor() {
    this.rounds = h('div.words')
    this.apart = h('div.words')
    this.conflicts = h('div.words')
    this.gold = h('div.words')
    this.goldTitle = h('span')
    this.cards = [
      card(defined(t('Agreement of reviewers'), ROUNDS_MEANING), this.rounds),
      card(defined(t('Disagreements'), APART_MEANING), this.apart),
      card(defined(t('Inspections that differ'), CONFLICTS_MEANING), this.conflicts),
      card(this.goldTitle, this.gold),
    ]
    fill(this.goldTitle, t('Reviewers on gold'))
    this.wait()
  }

  wait() {
    for (const part of [this.rounds, this.apart, this.conflicts, this.gold])
      if (!part.childElementCount) fill(part, h('p.none', {}, t('Calculating …')))
  }

  fail(message) {
    for (const part of [this.rounds, this.apart, this.conflicts, this.gold]) fill(part, h('p.none', {}, message))
  }

  show(figures) {
    fill(
      this.rounds,
      table(
        [t('Round'), t('Task'), t('Raw agreement'), t('Alpha')],
        [2, 3],
        figures.rounds[0] && ['', '', figures.rounds[0].raw.definition, figures.rounds[0].alpha.definition],
        figures.rounds.map((row) => [word(row.round), row.title, estimate(row.raw, 'percent'), estimate(row.alpha)]),
      ),
      figures.rounds_of_last &&
        h(
          'p.none',
          {},
          t('Of the last {toLocaleString} decisions of all rounds.', {
            toLocaleString: figures.rounds_of_last.toLocaleString('en'),
          }),
        ),
    )
    fill(
      this.apart,
      figures.disagreements.total
        ? differing(figures.disagreements)
        : h('p.none', {}, t('People disagree on no item so far.')),
    )
    fill(
      this.conflicts,
      figures.conflicts.total
        ? conflicting(figures.conflicts)
        : h('p.none', {}, t('No two people have given inspections that differ.')),
      figures.conflicts.of_last &&
        h(
          'p.none',
          {},
          t('Of the last {toLocaleString} inspections.', {
            toLocaleString: figures.conflicts.of_last.toLocaleString('en'),
          }),
        ),
    )
    fill(this.goldTitle, defined(t('Reviewers on gold'), figures.gold_meaning))
    fill(
      this.gold,
      figures.gold.length
        ? table(
            [t('Reviewer'), t('Agrees with the label'), t('“Cannot tell”')],
            [1],
            [
              '',
              figures.gold[0].right.definition,
              t('Verdicts “cannot tell from these data”, which count in no other number here.'),
            ],
            figures.gold.map((row) => [row.person, estimate(row.right, 'percent'), number(row.cannot_tell)]),
          )
        : h(
            'p.none',
            {},
            t('Undefined: nobody has committed a verdict on an item that has a known label and is decided.'),
          ),
    )
  }
}

function differing({ total: count, items }) {
  const more =
    count > items.length ? t('The latest {n} of {count}. ', { n: number(items.length), count: number(count) }) : ''
  return [
    h('p.more', {}, more, h('button.link', { type: 'button', onClick: showQueue }, t('Show them in the queue'))),
    table(
      [t('Item'), t('Task'), t('State'), t('Decisions')],
      [],
      null,
      items.map((item) => [
        h('a', { href: `#item=${item.id}`, title: item.name }, item.name),
        item.title,
        word(item.state),
        Object.entries(item.decisions)
          .map(
            ([round, verbs]) =>
              `${word(round)}: ${Object.entries(verbs)
                .map(([verb, n]) => `${n} ${word(verb)}`)
                .join(', ')}`,
          )
          .join('; '),
      ]),
    ),
  ]
}

/** @param {InspectionConflicts} conflicts */
function conflicting({ total: count, items }) {
  /** @param {InspectionResult} inspection */
  const inWords = ({ person, z, quality, type }) =>
    [person, z !== null && `z ${redshift(z)}`, quality !== null && t('quality {quality}', { quality }), type]
      .filter(Boolean)
      .join(' ')
  const more =
    count > items.length ? t('The latest {n} of {count}.', { n: number(items.length), count: number(count) }) : ''
  return [
    more && h('p.more', {}, more),
    table(
      [t('Item'), t('Task'), t('What differs'), t('Inspections')],
      [],
      null,
      items.map((item) => [
        h('a', { href: `#item=${item.id}`, title: item.name }, item.name),
        item.title,
        item.conflict.map(word).join(', '),
        item.inspections.map(inWords).join('; '),
      ]),
    ),
  ]
}

function showQueue() {
  openTab('review')
  window.specO3?.review?.queue.use({ disagreement: 'true' })
}

/** A value with its interval below it, or the reason why there is none. */
function estimate(given, as) {
  if (given.value === null) return h('span.why', {}, t('undefined: {reason}', { reason: given.reason }))
  const format = (value) => (as === 'percent' ? number(100 * value, 0) : value.toFixed(2).replace('-', '−'))
  const unit = as === 'percent' ? '\u202f%' : ''
  const between =
    given.low === null
      ? t('no interval: {reason}', { reason: given.reason })
      : t('{low} to {high}', { low: format(given.low), high: `${format(given.high)}${unit}` })
  return [
    h('strong', {}, `${format(given.value)}${unit}`),
    h('span.why', {}, t('{between}; n = {n}', { between, n: number(given.n) })),
  ]
}
