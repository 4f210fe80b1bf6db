import * as z from 'zod'
import { flag, list, oneOf, optionalText, text } from '../schema/schema.ts'
import { component, name } from './parts.ts'

export const WhoAmI = component('WhoAmI', {
  mode: oneOf(['anonymous', 'kubeconfig', 'bearer', 'oidc'], 'How the server recognizes callers.'),
  kind: oneOf(
    ['anonymous', 'guest', 'user', 'machine', 'passthrough'],
    'What the caller is taken for.',
  ),
  subject: optionalText('The claim `sub` of the token.'),
  groups: z.array(z.string()).readonly(),
  access: text('What decides about modules and providers, in a sentence.'),
  binding: z
    .strictObject({
      name,
      moduleResources: z.array(z.string()).readonly(),
      providerResources: z.array(z.string()).readonly(),
    })
    .optional()
    .describe('The GroupBinding that matches, and what it allows beside what is public.'),
  failedBinding: z
    .strictObject({ name, error: z.string() })
    .optional()
    .describe('The GroupBinding that could not be evaluated: every request is denied.'),
})
export type WhoAmI = z.infer<typeof WhoAmI>

const patterns = (kindName: string) =>
  z.array(z.string()).readonly().describe(`Patterns of the names of ${kindName}.`)

export const PublishRights = component('PublishRights', {
  overHttp: flag('Whether this server takes archives from callers.'),
  items: z.array(
    z.strictObject({
      namespace: name,
      modules: patterns('Modules'),
      providers: patterns('Providers'),
    }),
  ),
})
export type PublishRights = z.infer<typeof PublishRights>
export type PublishRight = PublishRights['items'][number]

export const Errors = component('Errors', {
  errors: list(z.string(), 'What is wrong, and what to do next.'),
})
