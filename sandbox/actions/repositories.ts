import type { Repository, Role } from '../state/model.ts';
import { fullNameOf, type World } from '../state/world.ts';
import { accountJson, organizationJson } from '../json/account-json.ts';
import { nodeId } from '../state/ids.ts';
import { type Protection, protectBranch } from './branch-rules.ts';
import { ownerSender } from './sender.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

export interface RepositoryOptions {
  private?: boolean;
  archived?: boolean;
  roles?: Record<string, Role>;
  /** The requirements of each branch. */
  protect?: Record<string, Protection>;
  defaultBranch?: string;
  fork?: boolean;
  preReceiveHooks?: boolean;
}

/** Makes, renames and deletes repositories. */
export function repositories(world: World, webhooks: Webhooks) {
  function emit(repository: Repository, action: string, payload = {}) {
    webhooks.emit({
      event: 'repository',
      action,
      repository,
      sender: ownerSender(world, repository.owner),
      payload,
    });
  }

  function rememberName(repository: Repository) {
    world.formerNames.set(fullNameOf(repository).toLowerCase(), repository.id);
  }

  return {
    /** A repository of an existing account. An App installed on all repositories gets `repository.created`. */
    addRepository(fullName: string, options: RepositoryOptions = {}) {
      if (world.findRepository(fullName)) throw new Error(`The sandbox already has ${fullName}`);
      const [login, name] = fullName.split('/') as [string, string];
      const id = world.ids.next('repository', 500_000_000);
      const defaultBranch = options.defaultBranch ?? 'main';
      const head = world.ids.sha();
      const repository: Repository = {
        id,
        nodeId: nodeId('Repository', id),
        owner: world.account(login),
        name,
        namedAt: world.now(),
        description: null,
        private: options.private ?? false,
        archived: options.archived ?? false,
        fork: options.fork ?? false,
        defaultBranch,
        hasPreReceiveHooks: options.preReceiveHooks ?? false,
        roles: new Map(),
        protection: new Map(),
        rulesets: [],
        branches: new Map([[defaultBranch, head]]),
        renamedBranches: new Map(),
        files: new Map(),
        activities: [],
        commits: new Set([head]),
        statuses: new Map(),
        checkRuns: new Map(),
        deployments: new Map(),
        commitDetails: new Map(),
        labels: new Map(),
        pullRequests: new Map(),
        mergeQueues: new Map(),
        merges: [],
        stacks: [],
        environments: new Map(),
        runs: [],
        runnersAreBusy: false,
        createdAt: world.now(),
      };
      for (const [person, role] of Object.entries(options.roles ?? {})) {
        repository.roles.set(world.account(person).id, role);
      }
      for (const [branch, protection] of Object.entries(options.protect ?? {})) {
        protectBranch(repository, branch, protection);
      }
      world.repositories.set(id, repository);
      emit(repository, 'created');
      return { id, nodeId: repository.nodeId, fullName: fullNameOf(repository) };
    },

    /** Writes a file of the default branch. */
    writeFile(fullName: string, path: string, text: string) {
      world.repository(fullName).files.set(path, text);
    },

    /** Gives a person a role on a repository; null takes it away. */
    setRole(fullName: string, login: string, role: Role | null) {
      const { roles } = world.repository(fullName);
      const { id } = world.account(login);
      if (role) roles.set(id, role);
      else roles.delete(id);
    },

    /** The old name redirects until another repository takes it. */
    renameRepository(fullName: string, name: string) {
      const repository = world.repository(fullName);
      const from = repository.name;
      rememberName(repository);
      Object.assign(repository, { name, namedAt: world.now() });
      emit(repository, 'renamed', { changes: { repository: { name: { from } } } });
    },

    /** Moves a repository. Only an installation of the new owner gets an event, as on GitHub. */
    transferRepository(fullName: string, newOwner: string) {
      const repository = world.repository(fullName);
      const { owner: from } = repository;
      rememberName(repository);
      world.installationOf(from)?.repositoryIds.delete(repository.id);
      repository.owner = world.account(newOwner);
      const previous =
        from.type === 'Organization'
          ? { organization: organizationJson(world, from) }
          : { user: accountJson(world, from) };
      emit(repository, 'transferred', { changes: { owner: { from: previous } } });
    },

    archive(fullName: string) {
      const repository = world.repository(fullName);
      repository.archived = true;
      emit(repository, 'archived');
    },

    unarchive(fullName: string) {
      const repository = world.repository(fullName);
      repository.archived = false;
      emit(repository, 'unarchived');
    },

    privatize(fullName: string) {
      const repository = world.repository(fullName);
      repository.private = true;
      emit(repository, 'privatized');
    },

    publicize(fullName: string) {
      const repository = world.repository(fullName);
      repository.private = false;
      emit(repository, 'publicized');
    },

    /** GitHub sends Apps no event of a deletion. With `notify`, the sandbox sends `repository.deleted`. */
    deleteRepository(fullName: string, { notify = false } = {}) {
      const repository = world.repository(fullName);
      if (notify) emit(repository, 'deleted');
      world.repositories.delete(repository.id);
      for (const installation of world.installations.values()) {
        installation.repositoryIds.delete(repository.id);
      }
    },

    /** A repository's current ids and names. */
    repository(fullName: string) {
      const { id, nodeId, name, owner, archived } = world.repository(fullName);
      return {
        id,
        nodeId,
        name,
        owner: owner.login,
        ownerId: owner.id,
        private: world.repository(fullName).private,
        archived,
      };
    },
  };
}
