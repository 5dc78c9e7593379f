// Jobs that run on the server: a card for each, with its progress, its result, and what can be done about it.

import { h, refill } from '../common/dom.js'
import { getJSON, postJSON } from '../common/http.js'
import { t } from '../common/language.js'
import { button } from '../common/page.js'
import { batchLink, download, reportOf, zipOf } from './parts.js'

const EVERY = 1000 // ms between two requests while a job runs

/** @type {Record<string, () => string>} */
const TITLES = {
  draft: () => t('Adding spectra'),
  import: () => t('Import'),
  export: () => t('Export'),
  catalogue: () => t('Catalogue'),
}

export class Jobs {
  /** @type {Map<string, Job>} by kind */
  #known = new Map()
  /** @type {Map<string, HTMLElement>} by kind */
  #cards = new Map()
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer
  /** @type {readonly number[]} the imports of this page */
  #imports = []
  /** @type {Set<string>} kinds that were started on this page: their end is shown, however fast it comes */
  #started = new Set()

  /**
   * @param {{isVisible: () => boolean, onEnd: (job: Job) => void, onChange: () => void, onError: (e: any) => void}} on
   */
  constructor(on) {
    this.on = on
    this.root = h('div.jobs')
  }

  /** A job was started on this page. @param {string} kind @param {Job[]} jobs those of the answer */
  async started(kind, jobs = []) {
    this.#started.add(kind)
    for (const job of jobs) this.#imports = job.kind === 'import' ? job.imports : this.#imports
    await this.watch()
  }

  /** Request how far the jobs are, again and again while one runs and the tab is in front. */
  async watch() {
    clearTimeout(this.#timer)
    try {
      const { jobs } = await getJSON(`/api/v1/jobs?${this.#imports.map((job) => `import=${job}`).join('&')}`)
      for (const job of jobs) this.#show(job)
      // Its result was closed.
      for (const kind of this.#known.keys()) if (!jobs.some((job) => job.kind === kind)) this.#drop(kind)
    } catch (error) {
      this.on.onError(error)
    }
    this.on.onChange()
    if (this.#running().length && this.on.isVisible()) this.#timer = setTimeout(() => this.watch(), EVERY)
  }

  #running = () => [...this.#known.values()].filter((job) => job.running)

  /** The batches that a job fills now. */
  filled = () => this.#running().flatMap(({ added, batch }) => (added && batch ? [batch] : []))

  /** The progress of the job that adds or writes items of a batch. @param {string} batch */
  barOf(batch) {
    const job = this.#running().find((running) => running.batch === batch)
    return job ? bar(job) : null
  }

  /** @param {Job} job */
  #show(job) {
    const before = this.#known.get(job.kind)
    const isNew = this.#started.has(job.kind) || before?.running
    // What ended before is in the list of exports, or of catalogues.
    if (['export', 'catalogue'].includes(job.kind) && !job.running && !isNew) return
    if (job.kind === 'import') this.#imports = job.imports
    this.#known.set(job.kind, job)
    this.#draw(job)
    if (job.running || !isNew) return
    this.#started.delete(job.kind)
    this.on.onEnd(job)
  }

  async #act(path, body = {}) {
    await postJSON(`/api/v1/${path}`, body).catch((error) => this.on.onError(error))
    await this.watch()
  }

  #drop(kind) {
    this.#known.delete(kind)
    this.#cards.get(kind)?.remove()
  }

  /** @param {Job} job */
  #draw({ kind, ...job }) {
    const card = this.#cards.get(kind) ?? h('section.job', { 'aria-label': TITLES[kind]() }, h('header'), h('div'))
    if (!card.isConnected) this.root.append(card)
    this.#cards.set(kind, card)
    const close = () => {
      this.#drop(kind)
      if (kind === 'import') this.#imports = []
      if (kind === 'draft') this.#act('drafts/stop')
    }
    const stop = kind === 'draft' && button(t('Stop'), () => this.#act('drafts/stop'))
    const { imports } = job
    const cancel = kind === 'import' && button(t('Cancel import'), () => this.#act('imports/cancel', { imports }))
    const resume = job.can_resume && button(t('Resume import'), () => this.#act('imports/resume', { imports }))
    const open = job.added > 0 && job.batch && h('a', { href: batchLink(job.batch) }, t('Open this batch in Review'))
    const zip = job.catalogue && download(zipOf(job.catalogue), t('Download as a zip'))
    const buttons = job.running ? [stop, cancel] : [resume, open, zip, button(t('Close'), close)]
    const [header, body] = card.children
    refill(header, h('h3', TITLES[kind]()), job.running && bar({ kind, ...job }), buttons)
    refill(body, reportOf(job.report, !job.running))
  }
}

/** @param {Job} job */
const bar = ({ kind, fraction }) =>
  h('progress', { 'aria-label': TITLES[kind](), max: 1, value: fraction === null ? undefined : fraction })
