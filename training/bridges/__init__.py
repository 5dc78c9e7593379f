"""The tool, the loop and the reward in the forms that other reinforcement-learning libraries take."""
