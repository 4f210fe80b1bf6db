import type { JsonReader, Resource } from '../../api/v1alpha1/v1alpha1.ts'
import type { StatusReading } from './read-object.ts'
import { type ReadmeConfigMap, readmesIn } from './readme.ts'

/** The parts of objects that a reader of a folder keeps: O for our kinds, E for useful objects of other kinds. */
export interface Keeper<O, E> {
  /** @param value as it is written */
  object(resource: Resource, value: Readonly<Record<string, unknown>>): O
  /** The object with a status from a file of its own. */
  withStatus(object: O, status: StatusReading): O
  extra(value: unknown, apiGroup: string): E | undefined
}

/**
 * Keeps what the catalog and lint read, and READMEs.
 *
 * @param json knows the findings of other objects
 */
export function resourceKeeper(json: JsonReader): Keeper<Resource, ReadmeConfigMap> {
  return {
    object: (resource) => detached(resource, json),
    withStatus: (resource, { parsed }) =>
      detached({ ...resource, status: parsed } as Resource, json),
    extra: readmesIn,
  }
}

/**
 * A copy that shares no memory with the text of its file, of which strings may be mere views, and each finding with those
 * that are equal. It has no resourceVersion: a file has none that would mean anything, and the catalog would refuse what
 * seems old.
 */
function detached(resource: Resource, json: JsonReader): Resource {
  const text = JSON.stringify(resource)
  // Half a character, which no URL can hold; API servers replace it likewise.
  const isOdd = /\\ud[89a-f]/i.test(text)
  const copy = (isOdd ? JSON.parse(text, wellFormed) : json.parse(text)) as Resource
  return { ...copy, metadata: { ...copy.metadata, resourceVersion: '' } } as Resource
}

const wellFormed = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? value.toWellFormed() : value
