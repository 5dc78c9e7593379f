// Differences between two versions of a trace: by step, and by word within a step's text.

const words = (text) => text.match(/\s+|[^\s]+/gu) ?? []

/**
 * Word differences as runs [{op: '=' | '-' | '+', text}], by longest common subsequence.
 * Texts are a few hundred words, so the quadratic table is fine; longer ones are shown as replaced whole.
 */
export function diffWords(before, after) {
  if (before === after) return [{ op: '=', text: after }]
  const a = words(before)
  const b = words(after)
  if (a.length * b.length > 4e6)
    return [
      { op: '-', text: before },
      { op: '+', text: after },
    ]
  const width = b.length + 1
  const length = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i * width + j] =
        a[i] === b[j]
          ? length[(i + 1) * width + j + 1] + 1
          : Math.max(length[(i + 1) * width + j], length[i * width + j + 1])
    }
  }
  const runs = []
  const push = (op, text) => (runs.at(-1)?.op === op ? (runs.at(-1).text += text) : runs.push({ op, text }))
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      push('=', b[j])
      i++
      j++
    } else if (i < a.length && (j >= b.length || length[(i + 1) * width + j] >= length[i * width + j + 1]))
      push('-', a[i++])
    else push('+', b[j++])
  }
  return runs
}

/** One line of text that stands for a step in a comparison. */
export function stepText(step) {
  if (!step) return ''
  if (step.kind === 'think') return step.text
  if (step.kind === 'answer') return `${step.verdict ?? 'no verdict'} · ${step.explanation}`
  const range = step.arguments?.wavelength_range
  const window = Array.isArray(range) ? range.join(' – ') + ' Å' : 'full spectrum'
  return `${window}${step.arguments?.label ? ` “${step.arguments.label}”` : ''} (${step.frame})`
}

/**
 * Differences by step, matched by id, in reading order:
 * [{id, kind, change: 'same' | 'changed' | 'added' | 'removed' | 'moved', runs}]
 */
export function diffSteps(before, after) {
  const old = new Map(before.map((s, at) => [s.id, { step: s, at }]))
  const kept = after.filter((s) => old.has(s.id)).map((s) => s.id)
  const order = before.map((s) => s.id).filter((id) => kept.includes(id))
  const rows = after.map((step) => {
    const was = old.get(step.id)?.step
    if (!was) return { id: step.id, kind: step.kind, change: 'added', runs: [{ op: '+', text: stepText(step) }] }
    const runs = diffWords(stepText(was), stepText(step))
    const changed = runs.some((r) => r.op !== '=')
    const moved = kept.indexOf(step.id) !== order.indexOf(step.id)
    return { id: step.id, kind: step.kind, change: changed ? 'changed' : moved ? 'moved' : 'same', runs }
  })
  const ids = new Set(after.map((s) => s.id))
  before.forEach((step, at) => {
    if (ids.has(step.id)) return
    const row = { id: step.id, kind: step.kind, change: 'removed', runs: [{ op: '-', text: stepText(step) }] }
    const previous = before
      .slice(0, at)
      .reverse()
      .find((s) => ids.has(s.id))
    const place = previous ? rows.findIndex((r) => r.id === previous.id) + 1 : 0
    rows.splice(place, 0, row)
  })
  return rows
}
