// SPDX-License-Identifier: Apache-2.0
// mxc launch: a job of several processes.
#include <map>
#include <memory>
#include <string>

#include "tools/run/launch/launcher.h"
#include "tools/run/subcommand.h"
#include "tools/usage/values.h"

namespace mxc::run {

Command AddLaunch(CLI::App& app, Reporting& reporting) {
  const auto options = std::make_shared<LaunchOptions>();
  constexpr uint32_t kMost = 256;
  app.add_option("--workers", options->workers, "processes that compute")
      ->check(Between(1u, kMost))
      ->capture_default_str();
  app.add_option("--servers", options->servers,
                 "processes that keep and update parameters")
      ->check(Between(1u, kMost))
      ->capture_default_str();
  app.add_option("--replicas", options->replicas,
                 "1: each server has a backup, on another machine if there is "
                 "one, that has what it knows before anybody hears of it; when "
                 "either dies or is cut off, the job goes on with the other, "
                 "and the one that is started again is its backup")
      ->check(Between(0u, 1u))
      ->capture_default_str();
  app.add_option("--transport", options->transport, "what they talk over")
      ->check(OneOf({"tcp", "unix"}))
      ->capture_default_str();
  app.add_option("--on", options->on,
                 "where processes run: local, on this machine; ssh, on "
                 "--hosts; slurm, on the nodes of the allocation that this is "
                 "in (sbatch, salloc); kubernetes prints manifests, for "
                 "kubectl apply -f -")
      ->check(OneOf({"local", "ssh", "slurm", "kubernetes"}))
      ->capture_default_str();
  app.add_option("--image", options->image,
                 "of --on kubernetes: one that has mxc")
      ->type_name("IMAGE");
  app.add_option("--volume", options->volume,
                 "of --on kubernetes: the claim of a volume for data and "
                 "checkpoints, at /work, where the command runs")
      ->type_name("CLAIM");
  CLI::Option* name = app.add_option("--name", options->name,
                                     "what the job is called, for --on "
                                     "kubernetes and --etcd")
                          ->capture_default_str();
  app.add_option("--etcd", options->etcd,
                 "http://10.0.0.5:2379 and more, separated by commas: "
                 "servers choose their ports, and workers hear from etcd where "
                 "they are; MXC_ETCD_CACERT, MXC_ETCD_CERT and MXC_ETCD_KEY "
                 "name the files for https")
      ->type_name("URL,…")
      ->needs(name);
  app.add_option("--hosts", options->hosts,
                 "machines for --on ssh, which have this folder and mxc at the "
                 "same paths")
      ->type_name("A,B");
  constexpr uint32_t kLastPort = 65535 - kMost;
  app.add_option("--port", options->port,
                 "where server 0 listens on another machine; server 1 has the "
                 "next")
      ->check(Between(1u, kLastPort))
      ->capture_default_str();
  app.add_flag("--plain", options->plain,
               "neither encrypt nor authenticate: for measuring");
  app.add_option("--journal", options->journal,
                 "a folder where servers keep what they know; one that is "
                 "killed is started again and goes on from there")
      ->type_name("DIR");
  const std::map<std::string, OnDeath> on_death = {
      {"abort", OnDeath::kAbort},
      {"wait", OnDeath::kWait},
      {"shrink", OnDeath::kShrink},
      {"restart", OnDeath::kRestart}};
  app.add_option("--on-death", options->on_death,
                 "when a process is killed or stops: abort ends the job; wait "
                 "starts a worker again, which the others wait for; shrink "
                 "goes on without a worker, unless it is worker 0; restart "
                 "begins again with all processes, from the newest checkpoint "
                 "of --save")
      ->transform(Named(on_death))
      ->type_name("POLICY");
  app.add_option("--restarts", options->restarts,
                 "how often processes are started again at most")
      ->capture_default_str();
  app.add_option("--log", options->log,
                 "append what all processes say, each line behind the name of "
                 "its process")
      ->type_name("FILE");
  app.add_option("--metrics", options->metrics,
                 "write each second how the job is doing, in Prometheus' text "
                 "form; 'mxc kv status' shows it as a table")
      ->type_name("FILE");
  app.add_option(
         "--metrics-listen", options->metrics_place,
         "serve the same over HTTP, at /metrics: for this machine alone "
         "at PORT, or for others at an ADDRESS of this one; port 0: any "
         "that is free. With --on kubernetes each server serves its own, at "
         "PORT of its pod, where annotations send Prometheus")
      ->type_name("[ADDRESS:]PORT");
  app.add_option("COMMAND", options->command,
                 "what each process runs: mxc train …, behind --")
      ->required();
  app.positionals_at_end();
  app.footer(
      "examples:\n"
      "  mxc launch --workers 4 -- mxc train net.json \\\n"
      "      --data digits --save job\n"
      "  mxc launch --on ssh --hosts a,b -- \\\n"
      "      mxc train net.json --data digits --save job\n"
      "  mxc launch --replicas 1 --on-death wait -- \\\n"
      "      mxc train net.json --data digits --save job\n"
      "  mxc launch --metrics job.prom -- mxc train net.json \\\n"
      "      --data digits --kvstore dist_async --save job");
  return
      [options, &reporting] { reporting.exit_code = Launcher(*options).Run(); };
}

}  // namespace mxc::run
