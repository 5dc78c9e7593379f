// A run as the page knows it, made from nothing but the server's events: a page that comes late, or comes back, hears
// them all again and knows the same.

import { Refused, getJSON, postJSON } from '../common/http.js'
import { pause } from '../common/idle.js'
import { aloud, outcome } from './labels.js'

/** What the server says of a run, before any of its events. */
export function newRun(about) {
  const traces = Array.from({ length: about.samples }, () => ({
    overview: null,
    maxTurns: null,
    drafter: null,
    steps: [],
    hints: {},
    turn: 0,
    text: '',
    thought: false,
    call: null,
    verdict: null,
    ended: null,
  }))
  return { ...about, state: 'running', last: 0, traces, consensus: null, changed: 0 }
}

/** Take over one event; one that was heard before changes nothing. */
export function hear(run, event, number) {
  if (number <= run.last) return
  run.last = number
  run.changed += 1
  if (event.kind === 'over') run.state = event.state
  else if (event.kind === 'consensus') run.consensus = event
  else HEARD[event.kind]?.(run.traces[event.sample], event)
}

const HEARD = {
  started(trace, { overview, max_turns: maxTurns, drafter }) {
    Object.assign(trace, { overview, maxTurns, drafter })
  },
  said(trace, { turn, text }) {
    inTurn(trace, turn)
    trace.text += text
  },
  called(trace, { turn, ...call }) {
    inTurn(trace, turn)
    trace.call = call
  },
  thought(trace, { turn, step }) {
    inTurn(trace, turn)
    trace.steps.push(step)
    trace.thought = true
  },
  looked(trace, { turn, step, hints }) {
    inTurn(trace, turn)
    trace.hints[step.id] = hints
    trace.steps.push(step)
    inTurn(trace, turn + 1)
  },
  answered(trace, { turn, step }) {
    inTurn(trace, turn)
    trace.steps.push(step)
    trace.verdict = step.verdict
  },
  ended(trace, event) {
    trace.ended = event
    trace.drafter = event.drafter // by now it is known which model it was
  },
}

function inTurn(trace, turn) {
  if (trace.turn >= turn) return
  Object.assign(trace, { turn, text: '', thought: false, call: null })
}

const WAITING = { id: 'coming-think', kind: 'think', text: '' }

/** The steps after the last whole one, as far as they are known; see `TraceView.grow`. */
export function coming(trace, medium) {
  if (trace.ended || !trace.overview || trace.steps.at(-1)?.kind === 'answer') return []
  const { thought, calling, answer } = aloud(trace.text)
  const steps = []
  if (!trace.thought && (thought || (!calling && answer === null))) steps.push({ ...WAITING, text: thought })
  if (trace.call) steps.push(called(trace.call, medium))
  else if (calling) steps.push({ id: 'coming-zoom', kind: 'zoom', arguments: {}, pending: '…' })
  else if (answer !== null) steps.push({ id: 'coming-answer', kind: 'answer', verdict: null, explanation: answer })
  return steps
}

function called({ window, label, frame, z }, medium) {
  return {
    id: 'coming-zoom',
    kind: 'zoom',
    arguments: { wavelength_range: window, label },
    frame,
    z,
    medium,
    pending: 'drawing the picture …',
  }
}

/** Whether the trace is still being made, and has not only been waiting for its turn. */
export const isGoing = (trace) => trace.overview !== null && trace.ended === null

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

export class Feed {
  /**
   * @param {string} run
   * @param {{onEvent: (event: Object, number: number) => void, onLost: () => void, onFound: () => void, onGone: (error: Error) => void}} callbacks
   */
  constructor(run, callbacks) {
    this.run = run
    this.on = callbacks
    this.heard = 0
    this.#open()
  }

  close() {
    this.closed = true
    this.source.close()
  }

  #open() {
    this.source = new EventSource(`/api/live/runs/${this.run}/events?after=${this.heard}`)
    this.source.addEventListener('open', () => this.on.onFound())
    this.source.addEventListener('error', () => this.#lost())
    this.source.addEventListener('message', (message) => this.#message(message))
  }

  #message({ data, lastEventId }) {
    const event = JSON.parse(data)
    this.heard = Number(lastEventId)
    this.on.onEvent(event, this.heard)
    if (event.kind === 'over') this.close()
  }

  /** The browser tries again by itself, unless the server answered with an error: then we ask what it is. */
  async #lost() {
    if (this.closed) return
    this.on.onLost()
    if (this.source.readyState !== EventSource.CLOSED) return
    try {
      await pause(1500)
      await getJSON(`/api/live/runs/${this.run}`)
    } catch (error) {
      if (error instanceof Refused && error.status === 404) {
        this.closed = true
        this.on.onGone(error)
        return
      }
    }
    if (!this.closed) this.#open()
  }
}
