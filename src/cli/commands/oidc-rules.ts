import { command, type CommandSpec } from '../command.ts';
import { readOwner } from '../target.ts';

const shown = (globs: string[] | null): string => globs?.join(' ') ?? 'any';

const list = command<object, [owner: string]>({
  usage: 'list <owner>',
  summary: 'list the rules that let in jobs of GitHub Actions',
  examples: [['holdfast oidc-rules list acme', 'See which jobs can call without a key']],
  async run({ output, connect }, _options, text) {
    const owner = readOwner(text);
    const { service } = await connect();
    const { oidc_rules } = await service.get('/oidc_rules/{owner}', { owner });
    output.table(
      ['NAME', 'REPOSITORIES', 'REFS', 'ENVIRONMENTS', 'MAY', 'BY', 'ID'],
      oidc_rules.map(({ id, name, repositories, refs, environments, may, created_by }) => [
        ...[name, shown(repositories), shown(refs), shown(environments), may.join(' '), created_by.name, id],
      ]),
    );
    if (oidc_rules.length === 0) output.line(`${owner} has no rule, so Holdfast lets in no jobs.`);
    output.json({ oidc_rules });
  },
});

type Options = {
  name: string;
  repository?: string[];
  ref?: string[];
  environment?: string[];
  freeze?: true;
};

const create = command<Options, [owner: string]>({
  usage: 'create <owner>',
  summary: 'create a rule that lets in jobs of GitHub Actions by their OIDC tokens',
  options: [
    ['--name <name>', 'what it is for', 'required'],
    ['--repository <glob>', 'only these repositories; repeat for more', 'many'],
    ['--ref <glob>', 'only these refs, such as refs/heads/main; repeat for more', 'many'],
    ['--environment <glob>', 'only these environments; repeat for more', 'many'],
    ['--freeze', 'let them also freeze; needs --ref or --environment'],
  ],
  examples: [
    ['holdfast oidc-rules create acme --name scopes', 'Let every job push scopes in its own repository'],
    [
      'holdfast oidc-rules create acme --name release --repository web --ref "refs/heads/release/*" --freeze',
      'Let jobs of release branches also freeze',
    ],
  ],
  async run({ output, connect }, { name, repository, ref, environment, freeze }, text) {
    const owner = readOwner(text);
    const { service } = await connect();
    const rule = await service.post(
      '/oidc_rules/{owner}',
      { owner },
      {
        name,
        repositories: repository ?? null,
        refs: ref ?? null,
        environments: environment ?? null,
        may: freeze ? ['push_scopes', 'freeze'] : ['push_scopes'],
      },
    );
    output.line(`Made OIDC rule ${rule.id} of ${owner}.`);
    output.json(rule);
  },
});

const remove = command<object, [owner: string, id: string]>({
  usage: 'delete <owner> <id>',
  summary: 'delete a rule; it lets in no more jobs',
  examples: [['holdfast oidc-rules delete acme 6f1c2f0a-5c1b-4a52-9d0e-0c8a1c1d2e3f', 'Delete a rule']],
  async run({ output, connect }, _options, text, id) {
    const owner = readOwner(text);
    const { service } = await connect();
    await service.delete('/oidc_rules/{owner}/{rule_id}', { owner, rule_id: id });
    output.line(`Deleted OIDC rule ${id} of ${owner}.`);
    output.json({ deleted: id });
  },
});

export const oidcRules: CommandSpec = {
  usage: 'oidc-rules',
  summary: 'manage the rules of an owner that let in jobs of GitHub Actions',
  below: [list, create, remove],
};
