import { type Service, v1 } from '../service/service.ts';

/** Names of the repositories of an owner where Holdfast is installed. */
export async function repositoriesOf(service: Service, owner: string): Promise<string[]> {
  const { repositories } = await service.get<{ repositories: { name: string }[] }>(v1('repos', owner));
  return repositories.map(({ name }) => name);
}
