// What the form says, as the plan that the server takes. Fields that were left empty are left out: they have their defaults.

/** A field that cannot be read; the sentence is for the person. */
class Unreadable extends Error {
  forPerson = true
}

/** @param {FormData} data */
export function planOf(data) {
  const text = (name) => (data.get(name) ?? '').trim()
  const number = (name) => (text(name) === '' ? undefined : Number(text(name)))
  const flag = (name) => (text(name) === '' ? undefined : text(name) === 'true')
  const some = (name) => (text(name) === '' ? undefined : text(name))
  const filter = {
    states: some('state') && [text('state')],
    survey: some('survey'),
    batch: some('batch'),
    snr_min: number('snr_min'),
    snr_max: number('snr_max'),
    simulated: flag('simulated'),
    disagreement: flag('disagreement'),
  }
  const plan = {
    name: text('name'),
    mode: text('mode'),
    sources: data.getAll('sources'),
    tasks: data.getAll('tasks'),
    scorers: data.getAll('scorers'),
    number: number('number'),
    each: number('each'),
    repeats: number('repeats'),
    seed: number('seed'),
    giveaways: text('giveaways'),
    items: itemsOf(text('items')),
    gold: goldOf(text('gold')),
  }
  const asked = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
  return Object.keys(asked).length ? { ...plan, filter: asked } : plan
}

function itemsOf(text) {
  return text
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map((word) => whole(word.replace(/^#/, ''), 'Items', word))
}

/** One item a line: "17 5 4", "23 - 0 2". */
function goldOf(text) {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((line) => {
      const words = line.split(/[\s,;]+/)
      if (words.length < 2 || words.length > 4)
        throw new Unreadable(
          `Gold items: found “${line}”, wanted an item, coherence, physical consistency and a tolerance, such as 17 5 4 1.`,
        )
      const [item, coherence, consistency = null, tolerance = 1] = words.map((word, at) =>
        word === '-' && at > 0 ? null : whole(word.replace(/^#/, ''), 'Gold items', line),
      )
      return { item, coherence, consistency, tolerance }
    })
}

function whole(word, where, found) {
  if (!/^\d+$/.test(word)) throw new Unreadable(`${where}: found “${found}”, wanted whole numbers.`)
  return Number(word)
}
