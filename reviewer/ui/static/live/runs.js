// Runs of the agent, built from the server's numbered events alone: a page that opens later receives them all again and
// has the same state. A lost connection resumes without missing an event.

import { address } from '../common/address.js'
import { Refused, getJSON, postJSON, remove } from '../common/http.js'
import { pause } from '../common/idle.js'
import { t } from '../common/language.js'
import { outcome, partsOf, policyLabel, standing } from './labels.js'

/** A run before its first event. @param {any} about what the server knows of it */
function newRun(about) {
  const traces = Array.from({ length: about.samples }, () => ({
    ...{ overview: null, maxTurns: null, drafter: null, steps: [], hints: {}, turn: 0, text: '', thought: false },
    ...{ call: null, verdict: null, ended: null, trial: null },
  }))
  return { ...about, state: 'running', last: 0, traces, consensus: null, changed: 0 }
}

/**
 * Apply an event; one that was applied before changes nothing.
 * @param {any} run @param {any} event @param {number} number
 */
function apply(run, event, number) {
  if (number <= run.last) return
  run.last = number
  run.changed += 1
  if (event.kind === 'over') run.state = event.state
  else if (event.kind === 'consensus') run.consensus = event
  else HANDLERS[event.kind]?.(run.traces[event.sample], event)
}

/** How each kind of event changes its trace. @type {Record<string, (trace: LiveTraceState, event: any) => void>} */
const HANDLERS = {
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
  thought(trace, { turn, step, zoom, hints }) {
    inTurn(trace, turn)
    trace.steps.push(step)
    trace.thought = true
    if (hints) trace.hints[zoom] = hints
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
    trace.drafter = event.drafter // the model is known by now
  },
}

function inTurn(trace, turn) {
  if (trace.turn >= turn) return
  Object.assign(trace, { turn, text: '', thought: false, call: null })
}

const COMING_ZOOM = { id: 'coming-zoom', kind: 'zoom', arguments: {}, pending: '…' }

/**
 * The steps after the last complete one, as far as they are known; see `TraceView.grow`.
 * @param {LiveTraceState} trace @param {Medium} medium @returns {Step[]}
 */
export function pendingSteps(trace, medium) {
  if (trace.ended || !trace.overview || trace.steps.at(-1)?.kind === 'answer') return []
  const { thought, calling, answer } = partsOf(trace.text)
  const steps = []
  if (!trace.thought && (thought || (!calling && answer === null)))
    steps.push({ id: 'coming-think', kind: 'think', text: thought })
  if (trace.call) steps.push(pendingZoom(trace.call, medium))
  else if (calling) steps.push(COMING_ZOOM)
  else if (answer !== null) steps.push({ id: 'coming-answer', kind: 'answer', verdict: null, explanation: answer })
  return steps
}

function pendingZoom({ window, label, frame, z, tool }, medium) {
  const windowless = { measure: t('measuring …'), sky_context: t('reading the catalogues …') }[tool]
  const pending = windowless ?? t('drawing the picture …')
  return { ...COMING_ZOOM, arguments: { wavelength_range: window, label }, frame, z, medium, tool, pending }
}

const LOST = t('connection lost, trying again …')
const GONE = t('The server was restarted and no longer knows this run. What it wrote until then is still shown.')

export class Runs {
  /**
   * @param {{onChange: (run: Run) => void, onOver: (run: Run) => void, onDropped: (runs: string[]) => void,
   *   titleOf: (policy: string) => string}} callbacks `onDropped`: the server dropped older runs to keep its limits
   */
  constructor(callbacks) {
    this.on = callbacks
    /** @type {Map<string, Run>} */
    this.known = new Map()
  }

  get = (/** @type {string} */ id) => this.known.get(id) ?? null

  /**
   * The run of a result as far as its events have come; null where they do not yet say, as the server did, that it is
   * over.
   * @param {RunSummary} result
   */
  #current = ({ run, state }) => {
    const known = this.get(run)
    return known?.state === 'running' && state !== 'running' ? null : known
  }

  /** The runs on a row of the bench, oldest first, as far as this page knows. @param {BenchRow} row */
  resultsOf = (row) => row.results.map((result) => summaryOf(this.#current(result)) ?? result)

  /** The run in progress on a row; null where there is none. @param {BenchRow} row */
  runningOn = (row) => row.results.map(this.#current).findLast((run) => run?.state === 'running') ?? null

  /** The progress of a row's run, and the result that stands for the spectrum. @param {BenchRow} row */
  statusOf(row) {
    const results = this.resultsOf(row)
    const result = standing(results)
    return {
      running: results.findLast(({ state }) => state === 'running')?.progress,
      result,
      by: result && policyLabel(result, this.on.titleOf(result.policy)),
    }
  }

  /** Start a run on a row. @param {BenchRow} row @param {RunSettings} settings */
  async start(row, settings) {
    const { run: id, dropped } = await postJSON('/api/v1/live/runs', { bench: row.id, ...settings })
    const run = this.#listen(aboutOf({ ...settings, id, bench: row.id, spectrum: row.spectrum }), Date.now())
    row.results.push(/** @type {RunSummary} */ (summaryOf(run)))
    if (dropped.length) this.on.onDropped(dropped)
    return run
  }

  /** An earlier run with all its events. @param {string} id @returns {Promise<Run>} */
  async find(id) {
    const answer = this.get(id) ?? (await getJSON(`/api/v1/live/runs/${id}`))
    const known = this.get(id)
    if (known) return known
    const run = this.#listen(aboutOf(answer), Date.parse(answer.started))
    for (const [at, tried] of answer.trials.entries()) if (tried) this.#watchTrial(run, at)
    return run
  }

  /** Put the evidence of a finished trace on trial. @param {Run} run @param {number} sample */
  async putOnTrial(run, sample) {
    await postJSON(`/api/v1/live/runs/${run.id}/trial?sample=${sample}`, {})
    this.#watchTrial(run, sample)
  }

  /** @param {Run} run @param {number} sample */
  stopTrial(run, sample) {
    return postJSON(`/api/v1/live/runs/${run.id}/trial/stop?sample=${sample}`, {})
  }

  /** Follow a trial from its first event. @param {Run} run @param {number} sample */
  #watchTrial(run, sample) {
    /** @type {LiveTrial} */
    const trial = { state: 'running', done: 0, of: null, detail: '', result: null }
    const set = (/** @type {Partial<LiveTrial>} */ change) => {
      Object.assign(trial, change)
      this.on.onChange(run)
    }
    run.traces[sample].trial = trial
    set({})
    const onGone = () => set({ state: 'failed', detail: t('The server was restarted and no longer knows this trial.') })
    const onEvent = ({ kind, ...event }) => set(kind === 'over' ? event : { done: event.done, of: event.of })
    new Feed(run.id, { onEvent, onGone, onLost: () => {}, onFound: () => {} }, `trial/events?sample=${sample}&`)
  }

  /** Stop a run and remove it, also from the server. @param {string} id */
  async remove(id) {
    await remove(`/api/v1/live/runs/${id}`).catch((error) => {
      if (!(error instanceof Refused && error.status === 404)) throw error
    })
    this.forget(id)
  }

  /** @param {string} id */
  forget(id) {
    const run = this.get(id)
    this.known.delete(id)
    run?.feed.close()
    if (run?.state !== 'running') return
    run.state = 'gone'
    run.isOver()
  }

  /** @param {Run} run */
  stop(run) {
    run.stopping = true
    this.on.onChange(run)
    return postJSON(`/api/v1/live/runs/${run.id}/stop`, {}).catch((error) => {
      run.stopping = false
      this.on.onChange(run)
      throw error
    })
  }

  #listen(about, since) {
    const policyTitle = this.on.titleOf(about.policy)
    const run = Object.assign(newRun(about), { since, policyTitle, lost: '', stopping: false, sent: new Map() })
    this.known.set(run.id, run)
    run.over = new Promise((resolve) => (run.isOver = resolve))
    const setLost = (/** @type {string} */ lost) => {
      run.lost = lost
      this.on.onChange(run)
    }
    run.feed = new Feed(run.id, {
      onEvent: (event, number) => {
        apply(run, event, number)
        this.on.onChange(run)
        if (event.kind === 'over') this.#over(run)
      },
      onLost: () => setLost(LOST),
      onFound: () => run.lost && setLost(''),
      onGone: () => {
        run.state = 'gone'
        setLost(GONE)
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

/** What a list of runs shows of a run. @param {Run | null} run @returns {RunSummary | null} */
function summaryOf(run) {
  if (!run) return null
  const { id, task, policy, samples, state, since, traces } = run
  const done = traces.filter((trace) => trace.ended).length
  const turn = Math.max(1, traces[0].turn)
  return {
    ...{ run: id, task, policy, samples, state, started: new Date(since).toISOString(), outcome: outcome(run) },
    verdicts: traces.map(({ verdict }) => verdict),
    progress: samples > 1 ? t('{done} of {all}', { done, all: samples }) : t('turn {turn}', { turn }),
    onTrial: traces.some(({ trial }) => trial?.state === 'running'),
  }
}

/** The part of settings or of the server's answer that a run keeps. @param {any} about */
function aboutOf({ id, bench, spectrum, task, policy, prompt, samples }) {
  return { id, bench, spectrum, task, policy, prompt, samples }
}

/** The events of a run, also after a lost connection: none is missed and none is applied twice. */
class Feed {
  #closed = false
  #last = 0 // number of the last event received
  /** @type {EventSource} */
  #source

  /**
   * @param {string} run
   * @param {{onEvent: (event: any, number: number) => void, onLost: () => void, onFound: () => void,
   *   onGone: () => void}} callbacks
   * @param {string} path of the events, to which the number of the last one is added
   */
  constructor(run, callbacks, path = 'events?') {
    this.run = run
    this.on = callbacks
    this.path = path
    this.#source = this.#open()
  }

  close() {
    this.#closed = true
    this.#source.close()
  }

  #open() {
    const source = new EventSource(address(`/api/v1/live/runs/${this.run}/${this.path}after=${this.#last}`))
    source.addEventListener('open', () => this.on.onFound())
    source.addEventListener('error', () => this.#lost())
    source.addEventListener('message', (message) => this.#message(message))
    return source
  }

  #message({ data, lastEventId }) {
    const event = JSON.parse(data)
    this.#last = Number(lastEventId)
    this.on.onEvent(event, this.#last)
    if (event.kind === 'over') this.close()
  }

  /** The browser reconnects by itself unless the server answered with an error: then find out which. */
  async #lost() {
    if (this.#closed) return
    this.on.onLost()
    if (this.#source.readyState !== EventSource.CLOSED) return
    try {
      await pause(1500)
      await getJSON(`/api/v1/live/runs/${this.run}`)
    } catch (error) {
      if (error instanceof Refused && error.status === 404) {
        this.#closed = true
        this.on.onGone()
      }
    }
    if (!this.#closed) this.#source = this.#open()
  }
}
