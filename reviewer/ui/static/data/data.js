// The Data tab: the batches of the campaign, what comes in, what goes out, and backups.

import { fill, h } from '../common/dom.js'
import { takeFiles } from '../common/file_drops.js'
import { stateName } from '../common/filters.js'
import { dateAndTime, number } from '../common/format.js'
import { getJSON, postJSON } from '../common/http.js'
import { t, tn, withCommas } from '../common/language.js'
import { Notices } from '../common/notices.js'
import { button, mountPage, table } from '../common/page.js'
import { STATES } from '../progress/charts.js'
import { addSpectra, addToDialog, exportApproved, importAnnotations, importRows, makeCatalogue } from './dialogs.js'
import { nextSteps, sentFiles, takeBack } from './dialogs.js'
import { Jobs } from './jobs.js'
import { batchLink, download, reportOf, zipOf } from './parts.js'

const ROWS_OF_TRACES = /\.(jsonl|json|eval|zip)$/i

/** Build the tab inside `root`. @param {HTMLElement | null} root */
export function mountData(root) {
  const page = mountPage(root, (place) => new DataPage(place))
  if (!page) return
  addEventListener('so-files', () => page.dropped())
  page.dropped()
}

class DataPage {
  /** @type {BatchList} */
  #list = { may_manage: false, batches: [], folders: [], backups: null }
  /** Whether spectra were added on this page: their queue is opened once they are drafted. */
  #opens = false
  /** Files of an import that has to be sent again, with another choice. @type {File[]} */
  #again = []
  /** Batches that are or were in the table. @type {Set<string>} */
  #seen = new Set()
  /** @type {Record<string, TaskText>} */
  #tasks = {}
  /** What the page shows, as text. */
  #answers = ''

  constructor(root) {
    this.notices = new Notices()
    this.jobs = new Jobs({
      isVisible: () => root.getClientRects().length > 0,
      onEnd: (job) => this.#ended(job),
      onChange: () => this.#changed(),
      onError: (error) => this.notices.error(error),
    })
    this.buttons = h(
      'div.controls',
      { hidden: true },
      button(t('Add spectra …'), () => this.add([]), 'button.primary'),
      button(t('Import …'), () => this.import(this.#again)),
      button(t('Annotations …'), importAnnotations),
      button(t('Export …'), () => this.export()),
      button(t('Catalogue …'), () => this.#start('catalogue', makeCatalogue(this.#tasks))),
    )
    this.batches = h('div')
    this.exports = h('div')
    this.others = h('div')
    root.classList.add('so-page')
    const header = h('header', h('h2', t('Data')), h('span.spring'), this.buttons)
    const past = h('h3', t('Past exports'))
    fill(root, header, this.notices.line, this.jobs.root, this.batches, past, this.exports, this.others)
  }

  async refresh() {
    try {
      const paths = ['me', 'batches', 'exports'].map((name) => getJSON(`/api/v1/${name}`))
      const answers = await Promise.all(paths)
      if (answers[1].may_manage) answers.push((await getJSON('/api/v1/catalogues')).catalogues)
      const drawn = this.#answers
      this.#answers = JSON.stringify(answers)
      if (this.#answers !== drawn) this.#draw(answers) // a button that is replaced while it is pressed gets no click
      this.#drawRunning()
      const [, list] = answers
      if (list.may_manage) await this.jobs.watch()
      else this.notices.show(t('Only coordinators can import and export. Past exports are listed here.'))
    } catch (error) {
      this.notices.error(error)
    }
  }

  /** @param {any[]} answers */
  #draw([{ tasks }, list, { exports }, names]) {
    this.#list = list
    this.#tasks = tasks
    this.buttons.hidden = !list.may_manage
    this.#drawBatches(list)
    this.#drawExports(exports)
    fill(this.others, list.may_manage && [catalogues(names), tables(), backups(list.backups, this.notices)])
  }

  /** Files were dropped on the page: those of traces are imported, others drafted. */
  async dropped() {
    const files = takeFiles()
    if (!files.length || addToDialog(files)) return
    if (!this.#list.may_manage) await this.refresh()
    await (files.some((file) => ROWS_OF_TRACES.test(file.name)) ? this.import(files) : this.add(files))
  }

  add = (files) => this.#start('draft', addSpectra({ files, ...this.#list, tasks: this.#tasks }))

  import = (files) => this.#start('import', importRows({ files, ...this.#list, tasks: this.#tasks }))

  export = (batch) => this.#start('export', exportApproved(this.#tasks, this.#list.batches, batch))

  async #start(kind, dialog) {
    try {
      const answer = await dialog
      if (!answer) return
      if (kind === 'draft') this.#opens = true
      if (kind === 'import') this.#again = sentFiles()
      await this.jobs.started(kind, answer.jobs)
    } catch (error) {
      this.notices.error(error)
    }
  }

  /** @param {Job} job */
  async #ended({ kind, added, batch, report }) {
    await this.refresh()
    if (kind === 'import' && added) this.#again = []
    if (kind !== 'draft') return
    // Where a file was refused, the person reads why first.
    const opens = this.#opens && added > 0 && report.tone === 'good' && this.jobs.on.isVisible()
    this.#opens = false
    if (opens && batch) this.buttons.appendChild(h('a', { href: batchLink(batch) })).click()
  }

  /** @param {BatchList} list */
  #drawBatches({ batches, may_manage: manages }) {
    for (const { name } of batches) this.#seen.add(name)
    const titles = [t('Batch'), t('When'), t('Size'), t('Rounds'), t('Agreement'), '']
    const rows = batches.map((batch) => [
      h('b', batch.name || t('(no name)')),
      dateAndTime(batch.added_at),
      tn('{n} item', '{n} items', batch.items, { n: number(batch.items) }),
      [rounds(batch), h('span.running', { 'data-batch': batch.name })],
      agreement(batch),
      h('div.controls', this.#actions(batch, manages)),
    ])
    fill(this.batches, table(titles, rows, t('No items yet: add spectra, or import trajectories.')))
  }

  /** @param {BatchListed} batch @param {boolean} manages */
  #actions(batch, manages) {
    const { name } = batch
    const takesBack = () => takeBack(batch).then(() => this.refresh())
    return [
      name && h('a', { href: batchLink(name) }, t('Open')),
      manages && batch.states.approved && button(t('Export'), () => this.export(name), 'button.link'),
      manages && button(t('Take back'), takesBack, 'button.link'),
    ]
  }

  /** A job has gone on: its batch may be new. */
  #changed() {
    const fresh = this.jobs.filled().find((batch) => !this.#seen.has(batch))
    if (fresh === undefined) return this.#drawRunning()
    this.#seen.add(fresh)
    return this.refresh()
  }

  /** Show the progress of jobs in the rows of their batches. */
  #drawRunning() {
    for (const place of this.batches.querySelectorAll('.running'))
      fill(place, this.jobs.barOf(place.getAttribute('data-batch') ?? ''))
  }

  /** @param {readonly ExportListed[]} exports */
  #drawExports(exports) {
    const rows = exports.map((listed) => {
      const path = `api/v1/exports/${listed.id}`
      const zip = [button(t('Train, share'), () => nextSteps(listed), 'button.link'), download(`${path}/zip`, 'zip')]
      const links = h('div.controls', listed.folder && zip, download(`${path}/manifest`, t('manifest')))
      return [h('b', listed.name), dateAndTime(listed.at), listed.person, listed.words, links]
    })
    fill(this.exports, table([t('Name'), t('When'), t('Who'), t('What is in it'), ''], rows, t('None yet.')))
  }
}

/** @param {BatchListed} batch */
function agreement({ compared, disagreed }) {
  const title = t('Of the items on whose current version two people decided: those on which they agreed.')
  const percent = number(100 * (1 - disagreed / compared))
  return compared ? h('span', { title }, t('{percent} % of {n}', { percent, n: number(compared) })) : ''
}

/** The items of a batch by state, as a bar and in words. @param {BatchListed} batch */
function rounds({ states, items }) {
  const present = [...STATES, 'withdrawn'].filter((state) => states[state])
  const words = withCommas(present.map((state) => `${stateName(state)} ${number(states[state])}`))
  const parts = present.map((state) => {
    const colour = `var(--so-state-${state.replace(' ', '-')}, var(--so-line))`
    return h('i', { style: `width: ${(100 * states[state]) / items}%; background: ${colour}` })
  })
  return [h('div.rounds', parts), h('span.words', words)]
}

/** The catalogues that can be downloaded. @param {readonly string[]} names */
function catalogues(names) {
  const links = names.map((name) => download(zipOf(name), `${name}.zip`))
  return links.length > 0 && [h('h3', t('Catalogues')), h('div.controls', links)]
}

/** The tables that can be downloaded. */
function tables() {
  const kinds = {
    decisions: t('Every decision'),
    inspections: t('Inspections of each person'),
    'inspections-merged': t("Inspections merged by DESI's rules"),
  }
  const forms = Object.entries({ csv: 'CSV', 'csv?bom=1': t('CSV for Excel'), fits: 'FITS', vot: 'VOTable' })
  const lines = Object.entries(kinds).map(([name, title]) => {
    const label = (form) => t('{table} as {form}', { table: title, form })
    const links = forms.map(([kind, form]) => download(`api/v1/tables/${name}.${kind}`, form, label(form)))
    return h('div.controls', t('{table}:', { table: title }), links)
  })
  const about = t('What others decided or found in a round that is still open is left out.')
  return [h('h3', t('Tables')), lines, h('p.muted', about)]
}

function backups(report, notices) {
  const place = h('div', report && reportOf(report))
  const make = async () => fill(place, reportOf(await postJSON('/api/v1/backups', {})))
  const act = button(t('Back up now'), () => make().catch((error) => notices.error(error)))
  return [h('h3', t('Backups')), place, h('div.controls', act)]
}
