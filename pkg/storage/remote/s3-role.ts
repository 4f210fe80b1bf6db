import { IamAwsProvider } from 'minio'

type Credentials = Awaited<ReturnType<IamAwsProvider['getCredentials']>>

/**
 * The credentials of a role, from wherever this machine or pod has them: web identity of EKS (IRSA), ECS, EC2. They are
 * fetched once for however many requests need them, and again before they expire.
 */
class Role extends IamAwsProvider {
  #fetching: Promise<Credentials> | undefined

  override getCredentials(): Promise<Credentials> {
    this.#fetching ??= super.getCredentials().finally(() => {
      this.#fetching = undefined
    })
    return this.#fetching
  }
}

export const createRole = (): IamAwsProvider => new Role({})
