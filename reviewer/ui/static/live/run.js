// A run as the page knows it, made from nothing but the server's events: a page that comes late, or comes back, hears
// them all again and knows the same.

import { aloud } from './words.js'

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
