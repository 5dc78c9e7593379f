// Editing a trace, as pure functions on its list of steps. Each returns a new list; nothing is changed in place,
// so the editor keeps earlier lists to undo with.

export const sameSteps = (a, b) => JSON.stringify(a) === JSON.stringify(b)

/** An id no step has had: ids are never used again within an item's versions, so marks and diffs stay true. */
export function newStepId(steps, taken = []) {
  const numbers = [...steps.map((s) => s.id), ...taken].map((id) => Number(/^s(\d+)$/.exec(id)?.[1] ?? 0))
  return `s${Math.max(0, ...numbers) + 1}`
}

export const replaceStep = (steps, id, change) => steps.map((s) => (s.id === id ? { ...s, ...change } : s))

export const removeStep = (steps, id) => steps.filter((s) => s.id !== id || s.kind === 'answer')

/** Move a step by one place; the answer stays last. */
export function moveStep(steps, id, by) {
  const from = steps.findIndex((s) => s.id === id)
  const to = from + by
  if (from < 0 || to < 0 || to >= steps.length) return steps
  if (steps[from].kind === 'answer' || steps[to].kind === 'answer') return steps
  const moved = [...steps]
  moved.splice(to, 0, ...moved.splice(from, 1))
  return moved
}

/** Put a step after another one, but never after the answer. */
export function insertAfter(steps, id, step) {
  const at = steps.findIndex((s) => s.id === id)
  const last = steps.findIndex((s) => s.kind === 'answer')
  let to = at < 0 ? steps.length : at + 1
  if (last >= 0) to = Math.min(to, last)
  return [...steps.slice(0, to), step, ...steps.slice(to)]
}

/** The window a zoom asked for, in its own frame, or null where it is not two finite numbers. */
export function windowOf(step) {
  const asked = step.arguments?.wavelength_range
  if (!Array.isArray(asked) || asked.length !== 2 || !asked.every(Number.isFinite)) return null
  return [asked[0], asked[1]]
}

/** The windows of a trace as the spectrum draws them: numbered as their steps are, each in its own frame. */
export const windowsOf = (steps) =>
  steps
    .map((step, index) => ({ step, number: index + 1 }))
    .filter(({ step }) => step.kind === 'zoom' && windowOf(step))
    .map(({ step, number }) => ({
      id: step.id,
      number,
      lo: windowOf(step)[0],
      hi: windowOf(step)[1],
      frame: step.frame,
      z: step.z,
      label: step.arguments.label ?? '',
    }))

/** What keeps these steps from being submitted, one sentence each. The server checks again. */
export function problems(steps) {
  const found = []
  if (steps.at(-1)?.kind !== 'answer') found.push('the last step is not an answer')
  let thought = false
  steps.forEach((step, index) => {
    if (step.kind === 'think') thought ||= step.text.trim() !== ''
    else {
      if (!thought) found.push(`nothing is thought before step ${index + 1}`)
      thought = false
    }
    if (step.kind === 'zoom' && !step.ok) found.push(`the tool refused the window of step ${index + 1}`)
    if (step.kind === 'answer' && !step.verdict) found.push('the answer is neither YES nor NO')
  })
  return found
}
