// Rules for the browser modules. Prettier decides the format; these rules find mistakes.

import js from '@eslint/js'
import globals from 'globals'
import addresses from './addresses.js'
import messages from './messages.js'

/** The folders whose texts are messages; this list only grows. */
const CONVERTED = [
  'blind',
  'comments',
  'common',
  'evidence',
  'find',
  'help',
  'live',
  'people',
  'progress',
  'review',
  'spectrum',
  'status',
  'trace',
]

/** Names that do not say which thing they mean; the parts of a message are named as in its text. */
const VAGUE = '[name=/^(one|found|wanted|made|there|told|asked|said|look|heard|door|room)$/]'
const NAMES = [
  `VariableDeclarator > Identifier.id${VAGUE}`,
  `:function > Identifier.params${VAGUE}`,
  `ObjectPattern > Property > Identifier.value${VAGUE}`,
  `ArrayPattern > Identifier${VAGUE}`,
  `MemberExpression[computed=false] > .property${VAGUE}`,
  `PropertyDefinition > .key${VAGUE}`,
].map((selector) => ({ selector, message: 'This name does not say which thing it means.' }))

export default [
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2024, sourceType: 'module', globals: globals.browser },
    rules: {
      eqeqeq: 'error',
      'max-len': ['error', { code: 120, ignoreUrls: true }],
      'no-shadow': ['error', { builtinGlobals: false }],
      'no-unused-vars': ['error', { args: 'after-used', caughtErrors: 'all' }],
      'no-use-before-define': ['error', { functions: false, classes: false, variables: false }],
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-const': ['error', { destructuring: 'all' }],
    },
  },
  {
    files: CONVERTED.map((folder) => `reviewer/ui/static/${folder}/*.js`),
    // To be converted.
    ignores: ['reviewer/ui/static/blind/plan.js', 'reviewer/ui/static/blind/setup.js'],
    plugins: { ours: messages },
    rules: { 'ours/texts-are-messages': 'error' },
  },
  {
    files: ['reviewer/ui/static/**/*.js'],
    plugins: { ours: messages, addresses },
    rules: {
      'ours/no-logic-on-texts': 'error',
      'addresses/addresses-are-completed': 'error',
      'no-restricted-syntax': ['error', ...NAMES],
    },
  },
  { ignores: ['tests/js/node_modules/'] },
]
