import type { Installation, Permissions, Repository } from '../state/model.ts';
import type { AppIdentity, World } from '../state/world.ts';
import { installationJson } from '../json/installation-json.ts';
import { repositoryStub } from '../json/repository-json.ts';
import { ownerSender } from './sender.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

export interface InstallOptions {
  repositories?: 'all' | string[];
  /** The granted permissions; default those that the App asks for. */
  permissions?: Permissions;
}

/** Which App: the one under test, the newest second one, or this one. */
type Of = { second?: boolean; app?: AppIdentity };

/** Installs the App on accounts, and ends or changes installations. */
export function installations(world: World, webhooks: Webhooks) {
  const appOf = ({ second, app }: Of): AppIdentity => {
    if (app) return app;
    if (!second) return world.app;
    if (!world.secondApp) throw new Error('There is no second App: addSecondApp() makes one');
    return world.secondApp;
  };

  function installationAt(login: string, of: Of = {}): Installation {
    const installation = world.installationOf(world.account(login), appOf(of));
    if (!installation) throw new Error(`The App is not installed on ${login}`);
    return installation;
  }

  /** The second App has no webhooks. */
  function emit(event: string, action: string, installation: Installation, payload: object) {
    if (installation.app !== world.registeredApp) return;
    webhooks.emit({
      event,
      action,
      installation,
      sender: ownerSender(world, installation.account),
      payload: { installation: installationJson(world, installation), requester: null, ...payload },
    });
  }

  function emitInstallation(action: string, installation: Installation) {
    const repositories = world.repositoriesOf(installation).map(repositoryStub);
    emit('installation', action, installation, { repositories });
  }

  function emitRepositories(action: 'added' | 'removed', installation: Installation, changed: Repository[]) {
    emit('installation_repositories', action, installation, {
      repository_selection: installation.selection,
      repositories_added: action === 'added' ? changed.map(repositoryStub) : [],
      repositories_removed: action === 'removed' ? changed.map(repositoryStub) : [],
    });
  }

  return {
    /** Installs the App on an account; sends `installation.created`. */
    install(login: string, { repositories = 'all', permissions, ...of }: InstallOptions & Of = {}) {
      const account = world.account(login);
      const app = appOf(of);
      if (world.installationOf(account, app)) throw new Error(`The App is already installed on ${login}`);
      const names = repositories === 'all' ? [] : repositories;
      const installation: Installation = {
        id: world.ids.next('installation', 40_000_000),
        app,
        account,
        selection: repositories === 'all' ? 'all' : 'selected',
        repositoryIds: new Set(names.map((name) => world.repository(`${login}/${name}`).id)),
        permissions: permissions ?? app.permissions,
        suspendedAt: null,
        createdAt: world.now(),
      };
      world.installations.set(installation.id, installation);
      emitInstallation('created', installation);
      return { id: installation.id };
    },

    /** Its tokens stop working at once. */
    uninstall(login: string, of: Of = {}) {
      const installation = installationAt(login, of);
      emitInstallation('deleted', installation);
      world.installations.delete(installation.id);
      for (const { token, installation: issuer } of world.installationTokens.values()) {
        if (issuer === installation) world.installationTokens.delete(token);
      }
    },

    suspend(login: string, of: Of = {}) {
      const installation = installationAt(login, of);
      installation.suspendedAt = world.now();
      emitInstallation('suspend', installation);
    },

    unsuspend(login: string, of: Of = {}) {
      const installation = installationAt(login, of);
      installation.suspendedAt = null;
      emitInstallation('unsuspend', installation);
    },

    /** From now on, the App asks for more. Each installation keeps its permissions until its owner accepts. */
    askForMore(permissions: Permissions, events: string[]) {
      world.app.permissions = { ...world.app.permissions, ...permissions };
      world.app.events = [...world.app.events, ...events];
    },

    /** The owner accepts other permissions; sends `installation.new_permissions_accepted`. */
    acceptPermissions(login: string, permissions: Permissions, of: Of = {}) {
      const installation = installationAt(login, of);
      installation.permissions = permissions;
      // The App under test is tried with tokens that are older than its permissions.
      for (const token of world.installationTokens.values())
        if (of.second && token.installation === installation)
          token.permissions = Object.fromEntries(
            Object.entries(token.permissions).filter(([name]) => name in permissions),
          );
      emitInstallation('new_permissions_accepted', installation);
    },

    addToInstallation(login: string, names: string[], of: Of = {}) {
      const installation = installationAt(login, of);
      const added = names.map((name) => world.repository(`${login}/${name}`));
      for (const repository of added) installation.repositoryIds.add(repository.id);
      emitRepositories('added', installation, added);
    },

    /** Removing one from an installation on all repositories makes it an installation on the rest. */
    removeFromInstallation(login: string, names: string[], of: Of = {}) {
      const installation = installationAt(login, of);
      if (installation.selection === 'all') {
        installation.repositoryIds = new Set(world.repositoriesOf(installation).map(({ id }) => id));
        installation.selection = 'selected';
      }
      const removed = names.map((name) => world.repository(`${login}/${name}`));
      for (const repository of removed) installation.repositoryIds.delete(repository.id);
      emitRepositories('removed', installation, removed);
    },
  };
}
