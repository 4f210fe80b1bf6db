import { decode, encode } from '@msgpack/msgpack'
import { serve } from './go-plugin.ts'

/** Set when the provider is built. */
declare const VERSION: string

interface Value {
  readonly msgpack: Uint8Array
}
type Greeting = { name: unknown; message: unknown }

const read = (value: Value): Greeting | null => decode(value.msgpack) as Greeting | null
const write = (state: unknown) => ({ msgpack: encode(state) })

/** A name that is not known before the apply comes as an extension value, and so does the message then. */
const greet = (name: unknown): unknown =>
  typeof name === 'string' ? `Hello, ${name}, from provider ${VERSION}.` : name

const type = Buffer.from('"string"')
const greeting = {
  block: {
    attributes: [
      { name: 'name', type, required: true, description: 'Who is greeted.' },
      { name: 'message', type, computed: true, description: 'The greeting.' },
    ],
  },
}

/** A provider with one resource, `hello_greeting`, which exists only in the state. */
void serve({
  GetSchema: () => ({ provider: { block: {} }, resourceSchemas: { hello_greeting: greeting } }),
  PrepareProviderConfig: ({ config }: { config: Value }) => ({ preparedConfig: config }),
  Configure: () => ({}),
  ValidateResourceTypeConfig: () => ({}),
  UpgradeResourceState: ({ rawState }: { rawState: { json: Uint8Array } }) => ({
    upgradedState: write(JSON.parse(Buffer.from(rawState.json).toString())),
  }),
  ReadResource: ({ currentState }: { currentState: Value }) => ({ newState: currentState }),
  PlanResourceChange: ({ proposedNewState }: { proposedNewState: Value }) => {
    const planned = read(proposedNewState)
    return {
      plannedState: write(planned && { name: planned.name, message: greet(planned.name) }),
    }
  },
  ApplyResourceChange: ({ plannedState }: { plannedState: Value }) => {
    const applied = read(plannedState)
    return { newState: write(applied && { name: applied.name, message: greet(applied.name) }) }
  },
  Stop: () => ({}),
})
