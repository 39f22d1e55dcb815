import type { Command, Option } from 'commander';
import { command } from '../command.ts';
import { misused } from '../stop.ts';

/** Each shell asks `holdfast complete` for the possible next words. A line has a word, a tab and what it does. */
const scripts: Record<string, string> = {
  bash: `_holdfast() {
  local IFS=$'\\n' word="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=($(compgen -W "$(holdfast complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)" -- "$word"))
}
complete -o default -F _holdfast holdfast`,
  zsh: `#compdef holdfast
_holdfast() {
  local line
  local -a found
  for line in "\${(@f)$(holdfast complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#found} )); then _describe holdfast found; else _files; fi
}
compdef _holdfast holdfast`,
  fish: `function __holdfast
  set -l found (holdfast complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c holdfast -f -a '(__holdfast)'`,
  powershell: `Register-ArgumentCompleter -Native -CommandName holdfast -ScriptBlock {
  param($word, $line, $cursor)
  $words = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($word -eq '') { $words += '' }
  & holdfast complete -- @words 2>$null | ForEach-Object {
    $name, $does = $_ -split "\`t", 2
    if (-not $does) { $does = $name }
    [System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterValue', $does)
  }
}`,
};

export const completion = command<object, [shell: string]>({
  usage: 'completion <shell>',
  summary: 'print a completion script for bash, zsh, fish or PowerShell',
  examples: [
    ['source <(holdfast completion bash)', 'In ~/.bashrc'],
    ['source <(holdfast completion zsh)', 'In ~/.zshrc, after compinit'],
    ['holdfast completion fish > ~/.config/fish/completions/holdfast.fish', 'Once, for fish'],
    ['holdfast completion powershell | Out-String | Invoke-Expression', 'In $PROFILE, for PowerShell'],
  ],
  async run({ world }, _options, shell) {
    const script = scripts[shell];
    if (!script) throw misused(`There is no completion for "${shell}". Write bash, zsh, fish or powershell.`);
    world.out.write(`${script}\n`);
  },
});

export const completeCommand = command<object, [words: string[]]>({
  usage: 'complete [words...]',
  summary: 'print the possible next words, for completion',
  isHidden: true,
  async run({ program, world }, _options, words) {
    for (const [word, does] of candidates(program, words)) world.out.write(`${word}\t${does}\n`);
  },
});

type Candidate = [word: string, does: string];

/** Values that options and arguments can have, where they are known. */
const values: Record<string, () => string[]> = {
  '--zone': () => Intl.supportedValuesOf('timeZone'),
  '--format': () => ['table', 'csv', 'jsonl'],
  '--kind': () => ['slack', 'teams', 'discord', 'google_chat', 'standard'],
  '--scope': () => ['admin', 'ci'],
  '--state': () => ['requested', 'approved', 'denied', 'revoked', 'expired', 'used', 'all'],
  shell: () => Object.keys(scripts),
  products: () => ['merge_protections', 'merge_queue', 'workflow_automation', 'ci_insights', 'none'],
};

/** The words that can replace the last one, which may be empty. */
function candidates(program: Command, words: string[]): Candidate[] {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  // The rest belongs to another program.
  if (before.includes('--')) return [];
  const known = (command: Command) => [...command.options, ...(command === program ? [] : program.options)];
  const optionOf = (command: Command, word: string) =>
    known(command).find(({ short, long }) => word === short || word === long);
  let command = program;
  let given = 0;
  let open: Option | undefined;
  for (const word of before) {
    if (open) open = undefined;
    else if (word.startsWith('-')) {
      const option = optionOf(command, word);
      open = option && (option.required || option.optional) ? option : undefined;
    } else {
      const below = command.commands.find((each) => each.name() === word);
      if (below) command = below;
      else given++;
    }
  }
  const found = open
    ? valuesOf(open.long ?? '')
    : current.startsWith('-')
      ? known(command).map((option): Candidate => [option.long!, option.description])
      : command.commands.length > 0
        ? below(command)
        : valuesOf(
            command.registeredArguments[Math.min(given, command.registeredArguments.length - 1)]?.name() ??
              '',
          );
  return found.filter(([word]) => word.toLowerCase().startsWith(current.toLowerCase()));
}

/** The commands below one, as its help lists them. */
const below = (command: Command): Candidate[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((each) => [each.name(), each.description()]);

const valuesOf = (name: string): Candidate[] => (values[name]?.() ?? []).map((value) => [value, '']);
