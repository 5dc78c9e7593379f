// What stands where the trace will be: the first steps for a newcomer, and what pressing Run will ask.

import { cap, h } from '../common/dom.js'
import { guideElements } from '../review/panels.js'

export function firstSteps({ onFiles, onLibrary, onTry }) {
  return h(
    'div.welcome',
    {},
    h('h2', {}, 'Watch the agent inspect a spectrum'),
    h(
      'p',
      {},
      'It thinks, asks for a picture of a wavelength window, looks, thinks again, and answers YES or NO. You see each step beside the spectrum, and decide what is kept.',
    ),
    h(
      'ol',
      {},
      h(
        'li',
        {},
        h('strong', {}, 'Bring a spectrum. '),
        'Drop FITS, CSV or text files anywhere on this page: LAMOST, SDSS, DESI and others are known by their layout.',
        h(
          'div.buttons',
          {},
          h('button.primary', { type: 'button', onClick: onTry }, 'Try one from the library'),
          h('button', { type: 'button', onClick: onFiles }, 'Choose files ', cap('a')),
          h('button', { type: 'button', onClick: onLibrary }, 'Search the library ', cap('/')),
        ),
      ),
      h(
        'li',
        {},
        h('strong', {}, 'Choose'),
        ' the question and who is asked, in the bar below. The measuring baseline is always there; a model needs a server.',
      ),
      h('li', {}, h('strong', {}, 'Run'), ' ', cap('r'), ' and watch. ', cap('Esc'), ' stops at any moment.'),
    ),
    h('p.muted', {}, 'Nothing goes to the reviewers unless you send it. ', cap('?'), ' shows all keys.'),
  )
}

export function nothingYet({ task, policy, keys, onRun }) {
  return h(
    'div.welcome',
    {},
    h('h2', {}, 'Not asked yet'),
    guideElements(task?.question ?? ''),
    h(
      'div.buttons',
      {},
      h('button.primary', { type: 'button', onClick: onRun }, 'Run ', cap(keys.of('run'))),
      h('span.muted', {}, `asks ${policy?.title ?? ''}`),
    ),
  )
}
