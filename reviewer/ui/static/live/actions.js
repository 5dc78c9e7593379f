// What each key of the Live tab does. Buttons and keys both end here.

import { postJSON } from '../common/http.js'
import * as panels from '../common/panels.js'
import { openTab } from '../common/tabs.js'
import { toggleTheme } from '../common/theme.js'
import { Menu } from './bar.js'

const SPECTRUM_COMMANDS = [
  'smooth+',
  'smooth-',
  'error',
  'lines',
  'sky',
  'frame',
  'redshift',
  'reset',
  'linelist',
  'name-line',
  'unit',
  'zoom-in',
  'zoom-out',
]

export class LiveActions {
  /** @param desk  the Live page */
  constructor(desk) {
    this.desk = desk
  }

  /** Every key ends here. False leaves the key to the browser. */
  act(action) {
    const { desk } = this
    if (SPECTRUM_COMMANDS.includes(action)) return void desk.spectrum.command(action)
    const does = {
      run: () => desk.asking.run(),
      stop: () => this.#stop(),
      'run-all': () => desk.asking.runAll(),
      send: () => desk.asking.send(),
      settings: () => desk.bar.settings.click(),
      next: () => this.#row(1),
      back: () => this.#row(-1),
      library: () => desk.bringing.fromLibrary(),
      files: () => desk.bench.choose(),
      off: () => desk.current && desk.bringing.takeOff(desk.current.row.id),
      queue: () => desk.root.classList.toggle('no-queue'),
      'step-next': () => this.#step(1),
      'step-back': () => this.#step(-1),
      follow: () => desk.trace.follow(),
      'sample-next': () => this.#sample(1),
      'sample-back': () => this.#sample(-1),
      vote: () => desk.shownRun?.consensus && desk.showSample('vote'),
      template: () => desk.front.template().catch((error) => desk.tell(error)),
      guide: () => panels.openGuide(desk.me.tasks[desk.question]),
      dark: toggleTheme,
      keys: () => panels.openPanel('Keys', desk.keys.sheet(), { wide: true }),
    }[action]
    if (!does) return false
    return does() === false ? false : undefined
  }

  /** What is open is closed and what is typed in is left, before a run is stopped. */
  #stop() {
    if (Menu.closeOpen()) return
    const focused = document.activeElement
    if (focused instanceof HTMLElement && focused.matches('input, select, textarea')) return focused.blur()
    return this.desk.asking.stop()
  }

  #row(by) {
    const { rows } = this.desk.bench
    const at = rows.findIndex((row) => row.id === this.desk.current?.row.id)
    const to = rows[Math.max(0, Math.min(rows.length - 1, at + by))]
    if (to) this.desk.select(to.id)
  }

  #step(by) {
    const { vote, shownTrace, trace, spectrum } = this.desk
    const steps = vote?.windows ?? shownTrace?.steps ?? []
    const selected = vote ? spectrum.selected : trace.selected
    const at = steps.findIndex((step) => step.id === selected)
    const from = at < 0 && by < 0 ? steps.length : at
    const to = steps[Math.max(0, Math.min(steps.length - 1, from + by))]
    if (to) this.desk.choose(to.id, { scroll: true })
  }

  #sample(by) {
    const count = this.desk.shownRun?.traces.length ?? 0
    if (count < 2) return
    const at = this.desk.sample === 'vote' ? (by > 0 ? -1 : 0) : this.desk.sample
    this.desk.showSample(Math.max(0, Math.min(count - 1, at + by)))
  }
}

export class Asking {
  /** @param desk  the Live page */
  constructor(desk) {
    this.desk = desk
  }

  /** Ask the question about the spectrum in front. */
  async run() {
    const { desk } = this
    const { row } = desk.current ?? {}
    if (!row) return desk.toast('First put a spectrum on the bench: drop a file, or press /.')
    if (desk.runs.isGoing(row)) return desk.toast('It is running. Esc stops it.')
    if (this.starting) return
    this.starting = true
    try {
      await this.#begin(row)
    } catch (error) {
      desk.tell(error, 'Nothing was started. ')
    }
    this.starting = false
  }

  async #begin(row) {
    const { desk } = this
    desk.notice(null)
    const run = await desk.runs.start(row, {
      task: desk.options.task,
      policy: desk.policies.chosen.key,
      samples: desk.bar.wanted,
      ...desk.options.settings,
    })
    if (desk.current?.row.id === row.id) await desk.showBegun(run)
    desk.bench.draw()
    return run
  }

  /** Every spectrum of the bench, one after the other; pressed again, no further one is begun. */
  async runAll() {
    const { desk } = this
    const { bench } = desk
    if (bench.runningAll) return this.#stopAll()
    if (!bench.rows.length) return
    bench.runningAll = true
    let last = desk.current?.row.id
    try {
      for (const row of [...bench.rows]) {
        if (!bench.runningAll) break
        if (!bench.row(row.id) || desk.runs.isGoing(row)) continue
        // Whoever looks at another spectrum meanwhile stays there.
        if (desk.current?.row.id === last) await desk.select(row.id)
        last = row.id
        await (
          await this.#begin(row)
        ).over
      }
    } catch (error) {
      desk.tell(error, 'The rest of the bench was not run. ')
    }
    bench.runningAll = false
    bench.draw()
  }

  #stopAll() {
    const { bench } = this.desk
    bench.runningAll = false
    bench.draw()
    this.stop()
  }

  /** Stop the run in front; false where none goes on. */
  stop() {
    const { desk } = this
    const run = desk.shownRun
    if (run?.state !== 'running') return false
    if (!run.stopping) desk.runs.stop(run).catch((error) => desk.tell(error, 'It could not be stopped. '))
    return true
  }

  /** The samples that "send to review" means: the one shown, or all where the vote is. Those without a step are no drafts. */
  get sendable() {
    const { shownRun: run, sample } = this.desk
    if (!run) return []
    const meant = sample === 'vote' ? run.traces.map((_, at) => at) : [sample]
    return meant.filter((at) => run.traces[at].ended && run.traces[at].steps.length)
  }

  async send() {
    const { desk } = this
    const run = desk.shownRun
    const samples = this.sendable.filter((sample) => !run.sent.has(sample))
    if (!samples.length) return
    try {
      const { items } = await postJSON(`/api/live/runs/${run.id}/review`, { samples })
      samples.forEach((sample, at) => run.sent.set(sample, items[at].item))
      desk.showBar()
      desk.notice(whereTheyAre(items), 'Open it', () => openInReview(items[0].item), 'good')
    } catch (error) {
      desk.tell(error, 'It was not sent. ')
    }
  }

  get downloads() {
    const {
      shownRun: { id },
      sample,
    } = this.desk
    return [
      ['Trace', 'JSON', 'trace.json'],
      ['Pictures', 'one PNG', 'strip.png'],
      ['Report', 'Markdown, zip', 'report.zip'],
    ].map(([text, what, file]) => ({
      text,
      what,
      url: `/api/live/runs/${id}/${file}?sample=${sample === 'vote' ? 0 : sample}`,
    }))
  }
}

function whereTheyAre(items) {
  const ids = items.map(({ item }) => `#${item}`).join(', ')
  if (items.length > 1) return `Items ${ids} are in the queue.`
  return items[0].new ? `Item ${ids} is in the queue.` : `Item ${ids} was in the queue already.`
}

function openInReview(item) {
  location.hash = `#item=${item}`
  openTab('review')
}
