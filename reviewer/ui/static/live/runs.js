// The runs that this page knows: started here or found again, each heard until it is over.

import { getJSON, postJSON } from '../common/http.js'
import { Feed } from './feed.js'
import { hear, newRun } from './run.js'
import { outcome } from './words.js'

/** Of a run without an outcome; what became of one that is gone is not known. */
const WITHOUT = { stopped: 'stopped', failed: 'failed', done: 'no answer', gone: null }
const LOST = 'connection lost, trying again …'

export class Runs {
  /** @param {{onChange: (run: Object) => void, onOver: (run: Object) => void, titleOf: (policy: string) => string}} callbacks */
  constructor(callbacks) {
    this.on = callbacks
    this.known = new Map()
  }

  get = (id) => this.known.get(id) ?? null

  /** The last run on a row of the bench, as far as it is known here. */
  lastOf = (row) => this.get(row.runs.at(-1))

  isGoing = (row) => this.lastOf(row)?.state === 'running'

  /** What a row of the bench says of its last run: how far it is, or what came of it. */
  statusOf(row) {
    const run = this.lastOf(row)
    if (!run) return { outcome: row.verdict }
    if (run.state !== 'running') return { outcome: outcome(run) ?? WITHOUT[run.state] }
    const done = run.traces.filter((trace) => trace.ended).length
    return { running: run.samples > 1 ? `${done} of ${run.samples}` : `turn ${Math.max(1, run.traces[0].turn)}` }
  }

  /** Start a run on a row. :raises Refused, Unreachable */
  async start(row, wanted) {
    const { run: id } = await postJSON('/api/live/runs', { bench: row.id, ...wanted })
    row.runs.push(id)
    return this.#listen(
      { id, bench: row.id, spectrum: row.spectrum, task: wanted.task, policy: wanted.policy, samples: wanted.samples },
      Date.now(),
    )
  }

  /** A run of before, with everything it has said. */
  async find(id) {
    const known = this.get(id)
    if (known) return known
    const { bench, spectrum, task, policy, samples, started } = await getJSON(`/api/live/runs/${id}`)
    return this.get(id) ?? this.#listen({ id, bench, spectrum, task, policy, samples }, Date.parse(started))
  }

  stop(run) {
    run.stopping = true
    this.on.onChange(run)
    return postJSON(`/api/live/runs/${run.id}/stop`, {}).catch((error) => {
      run.stopping = false
      this.on.onChange(run)
      throw error
    })
  }

  #listen(about, since) {
    const run = Object.assign(newRun(about), {
      since,
      policyTitle: this.on.titleOf(about.policy),
      lost: '',
      stopping: false,
      sent: new Map(),
    })
    this.known.set(run.id, run)
    run.over = new Promise((done) => {
      run.isOver = done
    })
    const told = (lost) => {
      run.lost = lost
      this.on.onChange(run)
    }
    new Feed(run.id, {
      onEvent: (event, number) => {
        hear(run, event, number)
        this.on.onChange(run)
        if (event.kind === 'over') this.#over(run)
      },
      onLost: () => told(LOST),
      onFound: () => run.lost && told(''),
      onGone: () => {
        run.state = 'gone'
        told('The server was started again and does not know this run any more. What it said until then is still here.')
        this.#over(run)
      },
    })
    return run
  }

  #over(run) {
    run.stopping = false
    this.on.onOver(run)
    run.isOver()
  }
}
