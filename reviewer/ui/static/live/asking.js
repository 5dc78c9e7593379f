// Asking: run, stop, run all, and what is done with the trace afterwards.

import { postJSON } from '../common/http.js'
import { openTab } from '../common/tabs.js'

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
  openTab('Review')
}
