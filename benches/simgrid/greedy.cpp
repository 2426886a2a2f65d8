// The same grid and tasks as `gleaner simulate` with the preset bertasi/greedy and no relocation, on SimGrid's S4U.
//
//   greedy DIR actors|executions     reads DIR/machines.csv and DIR/tasks.csv, writes DIR/simgrid.csv,
//                                    prints the seconds of processor time of the simulation without its files
//
// One host a machine, of one core and speed 1, whose CPU shares its time evenly among the executions on it. The work
// of a task is length × h: the seconds that it takes on that machine alone. Timers bring the arrivals. No network.
//
// - actors: each task is an actor that executes, which is how SimGrid's users mostly write it.
// - executions: no actor but one that keeps the time; the simulation's kernel starts each execution, and a callback
//   notices its end. Fewer switches, but the kernel keeps its executions in a list that each end walks through.
#include <simgrid/s4u.hpp>
#include <simgrid/kernel/Timer.hpp>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace sg4 = simgrid::s4u;

namespace {
using Vector = std::vector<double>;

const Vector weights = {2e-5, 0.1, 0.1};

struct Task {
  std::string id;
  double arrival, length;
  int kind;
  int machine = -1;
  double finished = -1;
};

// The machines of a kind that run equally many tasks, lowest first: what GREEDY needs to know and no more.
struct MachineKind {
  Vector speeds;
  std::map<int, std::set<int>> by_count;
};

struct Grid {
  std::vector<MachineKind> machine_kinds;
  std::vector<int> kind_of;
  std::vector<int> count;
  std::vector<Vector> compositions;
  std::vector<Task> tasks;
  std::vector<Vector> seconds_per_op; // by task kind, then machine kind

  void set_count(int machine, int tasks)
  {
    auto& by_count = machine_kinds[kind_of[machine]].by_count;
    auto old       = by_count.find(count[machine]);
    old->second.erase(machine);
    if (old->second.empty())
      by_count.erase(old);
    count[machine] = tasks;
    by_count[tasks].insert(machine);
  }

  // The highest affinity; within 1e-12 of it, relative, the lowest machine.
  int place(int kind) const
  {
    const Vector& h = seconds_per_op[kind];
    double best     = -1;
    for (size_t m = 0; m < machine_kinds.size(); m++)
      best = std::max(best, 1.0 / (machine_kinds[m].by_count.begin()->first + 1) / h[m]);
    int lowest = -1;
    for (size_t m = 0; m < machine_kinds.size(); m++) {
      const auto& fewest = *machine_kinds[m].by_count.begin();
      if (1.0 / (fewest.first + 1) / h[m] >= best - 1e-12 * best && (lowest < 0 || *fewest.second.begin() < lowest))
        lowest = *fewest.second.begin();
    }
    return lowest;
  }
};

std::vector<std::vector<std::string>> read(const std::string& path)
{
  std::ifstream in(path);
  std::vector<std::vector<std::string>> rows;
  std::string line, cell;
  while (std::getline(in, line)) {
    std::vector<std::string> row;
    for (std::istringstream cells(line); std::getline(cells, cell, ',');)
      row.push_back(cell);
    rows.push_back(row);
  }
  if (rows.empty()) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    std::exit(2);
  }
  rows.erase(rows.begin()); // the header
  return rows;
}

Vector numbers(const std::vector<std::string>& row, size_t from)
{
  Vector values;
  for (size_t i = from; i < row.size(); i++)
    values.push_back(std::stod(row[i]));
  return values;
}

int number_of(std::map<Vector, int>& known, const Vector& vector)
{
  return known.emplace(vector, static_cast<int>(known.size())).first->second;
}

Grid load(const std::string& dir)
{
  Grid grid;
  std::map<Vector, int> kinds;
  for (const auto& row : read(dir + "/machines.csv")) {
    const Vector speeds = numbers(row, 1);
    const int kind      = number_of(kinds, speeds);
    if (kind == static_cast<int>(grid.machine_kinds.size()))
      grid.machine_kinds.push_back({speeds, {}});
    grid.machine_kinds[kind].by_count[0].insert(static_cast<int>(grid.kind_of.size()));
    grid.kind_of.push_back(kind);
  }
  grid.count.assign(grid.kind_of.size(), 0);
  kinds.clear();
  for (const auto& row : read(dir + "/tasks.csv")) {
    const Vector composition = numbers(row, 3);
    const int kind           = number_of(kinds, composition);
    if (kind == static_cast<int>(grid.compositions.size()))
      grid.compositions.push_back(composition);
    grid.tasks.push_back({row[0], std::stod(row[1]), std::stod(row[2]), kind});
  }
  for (const auto& composition : grid.compositions) {
    Vector h;
    for (const auto& kind : grid.machine_kinds) {
      h.push_back(0);
      for (size_t i = 0; i < weights.size(); i++)
        h.back() += composition[i] > 0 ? weights[i] * composition[i] / kind.speeds[i] : 0;
    }
    grid.seconds_per_op.push_back(h);
  }
  return grid;
}

struct World {
  Grid grid;
  std::vector<sg4::Host*> hosts;
  bool with_actors;
  // The executions that no actor waits for.
  std::unordered_map<const sg4::Activity*, std::pair<int, sg4::ExecPtr>> running;

  void ended(int number)
  {
    Task& task    = grid.tasks[number];
    task.finished = sg4::Engine::get_clock();
    grid.set_count(task.machine, grid.count[task.machine] - 1);
  }

  void start(int number)
  {
    Task& task   = grid.tasks[number];
    task.machine = grid.place(task.kind);
    grid.set_count(task.machine, grid.count[task.machine] + 1);
    const double seconds = task.length * grid.seconds_per_op[task.kind][grid.kind_of[task.machine]];
    sg4::Host* host      = hosts[task.machine];
    if (with_actors) {
      sg4::Actor::create("task", host, [this, seconds, number] {
        sg4::this_actor::execute(seconds);
        ended(number);
      });
      return;
    }
    auto execution = sg4::Exec::init();
    execution->set_flops_amount(seconds)->set_host(host);
    running.emplace(execution.get(), std::make_pair(number, execution));
    execution->start();
  }

  // Starts every task that arrives at this moment, then sets a timer for the next.
  void arrive(size_t next)
  {
    const double now = grid.tasks[next].arrival;
    for (; next < grid.tasks.size() && grid.tasks[next].arrival <= now; next++)
      start(static_cast<int>(next));
    if (next < grid.tasks.size())
      simgrid::kernel::timer::Timer::set(grid.tasks[next].arrival, [this, next] { arrive(next); });
  }

  void completed(const sg4::Activity& activity)
  {
    const auto found = running.find(&activity);
    if (found != running.end()) {
      ended(found->second.first);
      running.erase(found);
    }
  }
};

} // namespace

int main(int argc, char* argv[])
{
  sg4::Engine engine(&argc, argv);
  const std::string form = argc == 3 ? argv[2] : "";
  if (form != "actors" && form != "executions") {
    std::fprintf(stderr, "usage: greedy DIR actors|executions\n");
    return 2;
  }
  // Room for as many actors as there are tasks.
  sg4::Engine::set_config("contexts/stack-size", 16);
  sg4::Engine::set_config("contexts/guard-size", 0);
  World world{load(argv[1]), {}, form == "actors", {}};
  const auto& tasks        = world.grid.tasks;
  const std::clock_t start = std::clock();
  auto* zone               = sg4::create_empty_zone("grid");
  for (size_t m = 0; m < world.grid.kind_of.size(); m++)
    world.hosts.push_back(zone->create_host("m" + std::to_string(m), 1.0)->seal());
  zone->seal();
  sg4::Activity::on_completion_cb([&world](const sg4::Activity& activity) { world.completed(activity); });
  // Without an actor the simulation would end at once.
  sg4::Actor::create("clock", world.hosts[0], [&] { sg4::this_actor::sleep_until(tasks.back().arrival + 1e-3); });
  simgrid::kernel::timer::Timer::set(tasks.front().arrival, [&world] { world.arrive(0); });
  engine.run();
  const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::ofstream out(std::string(argv[1]) + "/simgrid.csv");
  out.precision(17);
  out << "task,machine,finished_s\n";
  for (const auto& task : tasks)
    out << task.id << ",m" << task.machine << "," << task.finished << "\n";
  std::printf("%.6f\n", took);
  return 0;
}
