// What is asked for a run, as the person chose it last: question, policy, samples, and how the words are chosen.

import { lasting } from '../common/browser_storage.js'
import { h } from '../common/dom.js'

const KEPT = 'so-live-options'

/** name, label, title, and what the server does where it is left empty. */
const SETTINGS = [
  {
    name: 'temperature',
    label: 'Temperature',
    min: 0,
    max: 2,
    step: 0.1,
    empty: "the server's; several: 1",
    title: '0 takes the likeliest word each time',
  },
  {
    name: 'seed',
    label: 'Seed',
    min: 0,
    max: 2 ** 31 - 1,
    step: 1,
    empty: "the server's choice",
    title: 'the same seed, model and server say the same again; sample 2 has the next seed',
  },
  {
    name: 'max_tokens',
    label: 'Tokens a turn',
    min: 1,
    max: 32768,
    step: 1,
    empty: '2048',
    title: 'a turn is cut after so many',
  },
  {
    name: 'max_turns',
    label: 'Turn limit',
    min: 1,
    max: 32,
    step: 1,
    empty: '8',
    title: 'turns of the agent; the call of the last one is not run',
  },
]

/** What was chosen last. */
export const remembered = () => ({ samples: 1, settings: {}, ...lasting.read(KEPT) })

export const remember = (options) => lasting.set(KEPT, JSON.stringify(options))

/** The fields of the settings sheet. `change(name, number | undefined)` hears of each. */
export function settingFields(settings, change) {
  return SETTINGS.map(({ name, label, empty, title, ...range }) =>
    h(
      'label',
      { title },
      h('span', {}, label),
      h('input', {
        type: 'number',
        ...range,
        value: settings[name] ?? '',
        placeholder: empty,
        onChange: (event) => {
          const usable = event.target.value !== '' && event.target.checkValidity()
          event.target.setAttribute('aria-invalid', String(event.target.value !== '' && !usable))
          change(name, usable ? Number(event.target.value) : undefined)
        },
      }),
    ),
  )
}

/** "T 0.7 · 12 turns": the settings that are not left to the server. */
export const settingsText = ({ temperature, seed, max_tokens: tokens, max_turns: turns }) =>
  [
    temperature !== undefined && `T ${temperature}`,
    seed !== undefined && `seed ${seed}`,
    tokens !== undefined && `${tokens} tokens`,
    turns !== undefined && `${turns} turns`,
  ]
    .filter(Boolean)
    .join(' · ')
